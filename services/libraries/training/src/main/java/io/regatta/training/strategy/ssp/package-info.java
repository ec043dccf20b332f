/** Ssp mode: asynchronous, with a bound on how far a trainer may be ahead. */
package io.regatta.training.strategy.ssp;
