/** Sync mode: one round per step over all ranks. */
package io.regatta.trainer.strategy.sync;
