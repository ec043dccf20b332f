/**
 * Collectives as data: schedules of steps, the algorithms that make them, and operations on tensors. The collective
 * module carries them out; nothing here waits or sends. Part of the public API.
 */
package io.regatta.core.collective;
