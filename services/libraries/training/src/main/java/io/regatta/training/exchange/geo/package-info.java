/**
 * The exchange of modes that push differences: local steps, whose differences go to the servers every k steps.
 * {@code Exchanges} makes it, and each replica's step calls it.
 */
package io.regatta.training.exchange.geo;
