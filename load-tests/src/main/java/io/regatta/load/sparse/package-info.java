/**
 * The load test of sparse rows beside other transports. The door to the load tests calls its driver.
 */
package io.regatta.load.sparse;
