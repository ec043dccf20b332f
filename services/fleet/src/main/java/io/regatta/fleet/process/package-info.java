/**
 * The part of one process in a job: its settings, and the start, watch and end of the service or trainer that its role asks for.
 * Commands, {@link io.regatta.fleet.Fleet} and {@link io.regatta.fleet.local.LocalCluster} call it.
 */
package io.regatta.fleet.process;
