/**
 * The launcher: which processes a job has on this machine, with which environment, and their life. The plan is a pure
 * function of options; {@link io.regatta.fleet.launch.Launcher} starts it and watches.
 */
package io.regatta.fleet.launch;
