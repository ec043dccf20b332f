/**
 * The strategy of local SGD: ranks train apart and average their values every few steps. The registry makes it, and
 * each replica's step calls it.
 */
package io.regatta.training.strategy.localsgd;
