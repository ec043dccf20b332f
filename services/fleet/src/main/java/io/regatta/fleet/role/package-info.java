/**
 * What the environment of a process says about its part in a job: the variables of PaddlePaddle's launchers, of MPI, Slurm
 * and Kubernetes. Pure functions of a map of variables; the configuration keys that they stand for are read as any others.
 */
package io.regatta.fleet.role;
