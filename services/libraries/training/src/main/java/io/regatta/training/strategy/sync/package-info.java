/** Sync mode: one round per step over all ranks. Part of the public API. */
package io.regatta.training.strategy.sync;
