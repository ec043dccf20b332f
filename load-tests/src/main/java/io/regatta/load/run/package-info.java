/**
 * What load tests share: processes, rounds, tables of results, and the servers and trainers that are measured. All
 * drivers call it.
 */
package io.regatta.load.run;
