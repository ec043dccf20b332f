/**
 * The exchanges, which carry the trainer's strategies out: each lies in a folder of its own below. {@code Exchanges}
 * chooses the one that a job's mode asks for, and {@code FleetTrainer} calls it.
 */
package io.regatta.training.exchange;
