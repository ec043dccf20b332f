/**
 * The training loop of one rank within DJL's: forward, backward, the exchange of each step, evaluation, snapshots.
 * Programs create a {@link io.regatta.trainer.rank.FleetTrainer}, and {@code trainer.run} runs them.
 */
package io.regatta.trainer.rank;
