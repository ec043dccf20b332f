/**
 * The comparison of what the modes learn from generated data. The door to the load tests calls its driver.
 */
package io.regatta.load.modes;
