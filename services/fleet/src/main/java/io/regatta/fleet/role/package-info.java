/**
 * The part in a job that the environment of a process gives it: variables of PaddlePaddle's launchers, of MPI, Slurm
 * and Kubernetes. Pure functions of a map of variables; the configuration keys that they stand for are read as any
 * others.
 */
package io.regatta.fleet.role;
