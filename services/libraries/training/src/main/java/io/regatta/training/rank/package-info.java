/**
 * The training loop of one rank under DJL's own: forward, backward, the exchange of each step, evaluation, snapshots.
 * Programs make a {@link io.regatta.training.rank.FleetTrainer}, and {@code trainer.run} runs them.
 */
package io.regatta.training.rank;
