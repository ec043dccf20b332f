/**
 * The exchange of local SGD: ranks train apart and average their values every few steps. {@code Exchanges} makes it,
 * and each replica's step calls it.
 */
package io.regatta.training.exchange.localsgd;
