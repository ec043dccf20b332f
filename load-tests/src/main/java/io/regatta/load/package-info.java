/**
 * The benchmarks by JMH, and the door to all other load tests. {@code load-tests/run.sh} calls it.
 */
package io.regatta.load;
