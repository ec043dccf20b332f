/**
 * The load test of features: from rows of a CSV file to floats and ids, beside pandas and Polars. The door to the load tests
 * calls its driver.
 */
package io.regatta.load.features;
