/** The command that searches for a job's hyperparameters. */
package io.regatta.fleet.command.tune;
