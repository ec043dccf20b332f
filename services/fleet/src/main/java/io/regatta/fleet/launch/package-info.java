/**
 * The launcher: the processes of a job on this machine, their environment, and their life. The plan is a pure function
 * of options; {@link io.regatta.fleet.launch.Launcher} starts it and watches.
 */
package io.regatta.fleet.launch;
