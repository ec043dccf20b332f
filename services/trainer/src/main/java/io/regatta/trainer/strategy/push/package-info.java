/**
 * The strategy of the modes that push gradients to servers and pull values from them: sync, half-async, async and ssp.
 * The registry creates it, and each replica's step calls it.
 */
package io.regatta.trainer.strategy.push;
