/** Geo mode: local steps, whose differences go to the servers every k steps. */
package io.regatta.trainer.strategy.geo;
