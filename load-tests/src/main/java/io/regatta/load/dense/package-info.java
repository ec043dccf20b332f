/**
 * The load test of dense tensor streams beside other transports. The door to the load tests calls its driver.
 */
package io.regatta.load.dense;
