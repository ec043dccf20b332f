/**
 * The roles of processes in a job, and the part that the environment gives to one: variables of PaddlePaddle's launchers,
 * of MPI, Slurm and Kubernetes, as pure functions of a map. Commands and {@link io.regatta.fleet.FleetBuilder} read it,
 * and take the configuration keys that the variables stand for.
 */
package io.regatta.fleet.role;
