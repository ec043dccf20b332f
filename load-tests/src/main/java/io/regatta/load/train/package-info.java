/**
 * The load tests of whole training jobs, and of what open and closed ports cost them. The door to the load tests calls
 * their drivers.
 */
package io.regatta.load.train;
