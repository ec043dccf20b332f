/**
 * The strategy of local SGD: ranks train alone and average their values every few steps. The registry creates it, and
 * each replica's step calls it.
 */
package io.regatta.trainer.strategy.localsgd;
