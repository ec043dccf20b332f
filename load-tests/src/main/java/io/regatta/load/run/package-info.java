/**
 * The common parts of load tests: processes, rounds, tables of results, and the measured servers and trainers. All
 * drivers call it.
 */
package io.regatta.load.run;
