/**
 * The strategy of geo mode: local steps, whose differences go to the servers every k steps. The registry makes it,
 * and each replica's step calls it.
 */
package io.regatta.training.strategy.geo;
