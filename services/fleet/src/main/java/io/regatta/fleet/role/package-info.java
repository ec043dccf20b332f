/**
 * The roles of processes in a job, and the part that the environment assigns to one. The variables of PaddlePaddle's
 * launchers, of MPI, Slurm and Kubernetes are read by pure functions of a map. Commands and {@link
 * io.regatta.fleet.FleetBuilder} read it, and take the configuration keys that the variables stand for.
 */
package io.regatta.fleet.role;
