package io.regatta.core.collective.schedule;

import io.regatta.core.collective.Operation;

/**
 * The division of a vector among ranks: in rank order, the first {@code size % ranks} parts longer by one. Immutable. A
 * ring, {@link Operation#REDUCE_SCATTER} and {@link Operation#ALL_GATHER} use it.
 *
 * @param size elements, at least 0
 * @param ranks at least 1
 */
public record Parts(int size, int ranks) {

  /** Returns the first element of a rank's part. */
  public int from(int rank) {
    return rank * (size / ranks) + Math.min(rank, size % ranks);
  }

  /** Returns the number of elements of a rank's part. */
  public int length(int rank) {
    return size / ranks + (rank < size % ranks ? 1 : 0);
  }

  /** Returns the length of the longest part. */
  int longest() {
    return length(0);
  }
}
