/**
 * The registry of the trainer's strategies, by a job's mode. {@code FleetTrainer} calls it; each strategy has a
 * package of its own below. Part of the public API.
 */
package io.regatta.training.strategy;
