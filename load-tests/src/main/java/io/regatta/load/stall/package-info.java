/**
 * The load test of what a stalled peer costs the others. The door to the load tests calls its driver.
 */
package io.regatta.load.stall;
