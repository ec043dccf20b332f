/**
 * The load test of all-reduces beside Gloo and Open MPI. The door to the load tests calls its driver.
 */
package io.regatta.load.collective;
