/**
 * Schedules of collectives: which rank sends and receives which part in which step, for each algorithm. The
 * collective module chooses one and carries it out.
 */
package io.regatta.core.collective.schedule;
