/**
 * The registry of the trainer's strategies: which exchange a job's mode asks for. {@code FleetTrainer} calls it; each
 * strategy lies in a folder of its own below.
 */
package io.regatta.training.strategy;
