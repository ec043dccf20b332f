package io.regatta.core.collective;

/**
 * How a vector is shared out to ranks: in rank order, the first {@code size % ranks} parts longer by one. The parts of
 * a ring, of {@link Operation#REDUCE_SCATTER} and of {@link Operation#ALL_GATHER}. Immutable.
 *
 * @param size elements, at least 0
 * @param ranks at least 1
 */
public record Parts(int size, int ranks) {

  /** Where a rank's part begins. */
  public int from(int rank) {
    return rank * (size / ranks) + Math.min(rank, size % ranks);
  }

  /** How many elements it has. */
  public int length(int rank) {
    return size / ranks + (rank < size % ranks ? 1 : 0);
  }

  /** The longest one. */
  int longest() {
    return length(0);
  }
}
