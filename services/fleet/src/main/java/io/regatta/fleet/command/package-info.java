/**
 * The command line: {@link io.regatta.fleet.command.Regatta}, which is the main class, and one class for each command. The shell
 * calls it, and so does {@link io.regatta.fleet.Fleet#run} with the arguments of a user's program.
 */
package io.regatta.fleet.command;
