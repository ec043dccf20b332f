package io.regatta.core.exchange;

/**
 * Trainer whose gradient is in a push, for de-duplication and weighting.
 *
 * @param rank of the trainer
 * @param incarnation of the trainer
 * @param sequence number of this push from that trainer to this shard, 1, 2, 3 ...
 * @param weight number of examples behind the gradient; 0 is ordinary (an empty push still ticks the clock)
 * @param progress of the trainer once the push is applied
 */
public record Contributor(int rank, long incarnation, long sequence, double weight, TrainerProgress progress) {

  /** Creates a contributor that does not report its progress. */
  public Contributor(int rank, long incarnation, long sequence, double weight) {
    this(rank, incarnation, sequence, weight, TrainerProgress.NONE);
  }
}
