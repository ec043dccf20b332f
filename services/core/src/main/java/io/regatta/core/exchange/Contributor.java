package io.regatta.core.exchange;

/**
 * Whose gradient is in a push, for de-duplication and weighting.
 *
 * @param rank of the trainer
 * @param incarnation of the trainer
 * @param sequence number of this push from that trainer to this shard, 1, 2, 3 ...
 * @param weight number of examples behind the gradient; 0 is ordinary (an empty push still ticks the clock)
 */
public record Contributor(int rank, long incarnation, long sequence, double weight) {}
