/**
 * The training loop of one rank within DJL's: forward, backward, the exchange of each step, evaluation, snapshots.
 * Programs create a {@link io.regatta.training.rank.FleetTrainer}, and {@code training.run} runs them.
 * Part of the public API.
 */
package io.regatta.training.rank;
