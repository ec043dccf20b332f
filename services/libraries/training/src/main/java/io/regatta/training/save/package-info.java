/**
 * Models on disk: written completely or not at all, and read again. The worker saves with it; tests and tools compare
 * models.
 */
package io.regatta.training.save;
