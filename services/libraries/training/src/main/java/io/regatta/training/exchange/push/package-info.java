/**
 * The exchange of the modes that push gradients to servers and pull values from them, with rounds or without.
 * {@code Exchanges} makes it, and each replica's step calls it.
 */
package io.regatta.training.exchange.push;
