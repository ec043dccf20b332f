/** Sync mode: one round per step over all ranks. */
package io.regatta.training.strategy.sync;
