/**
 * The state that the replicas of a rank share while they train: their group, their steps and times, and the exchange of
 * gradients for values. The training loop in {@code training.rank} and the strategies call it; it uses no model
 * library.
 */
package io.regatta.training.replica;
