/** Ssp mode: asynchronous, with a bound on how far a trainer may be ahead. Part of the public API. */
package io.regatta.training.strategy.ssp;
