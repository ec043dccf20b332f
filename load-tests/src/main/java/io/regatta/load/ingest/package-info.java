/**
 * The load test of reading training data. The door to the load tests calls its driver.
 */
package io.regatta.load.ingest;
