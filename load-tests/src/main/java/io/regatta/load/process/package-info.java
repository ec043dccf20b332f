/**
 * Processes, machines, rounds and tables of load tests. All drivers call it.
 */
package io.regatta.load.process;
