/**
 * The load test of how long a shard's time slices take. The door to the load tests calls its driver.
 */
package io.regatta.load.turns;
