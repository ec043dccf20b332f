/**
 * The strategy of geo mode: local steps, whose deltas are sent to the servers every k steps. The registry creates it,
 * and each replica's step calls it. Part of the public API.
 */
package io.regatta.training.strategy.geo;
