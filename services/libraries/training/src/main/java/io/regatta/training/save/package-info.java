/** Models on disk: written whole or not at all, and read again. */
package io.regatta.training.save;
