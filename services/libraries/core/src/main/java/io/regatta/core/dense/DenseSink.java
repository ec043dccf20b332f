package io.regatta.core.dense;

import java.nio.ByteBuffer;

/** A consumer of the elements of a dense vector, in their order as they arrive. Owned by one thread at a time. */
public interface DenseSink {

  /**
   * Takes the next elements, a whole number of them and no more than are missing.
   *
   * @param elements little-endian bytes between position and limit, whatever the buffer's order; the position moves
   */
  void put(ByteBuffer elements);

  /** Returns the elements once all have arrived, or as far as they have; null if they are not kept. */
  DenseValues values();
}
