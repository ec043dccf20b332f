package io.regatta.core.dense;

import java.nio.ByteBuffer;

/** Takes the elements of a dense vector in their order as they come. Owned by one thread at a time. */
public interface DenseSink {

  /**
   * The next elements, a whole number of them and no more than are missing.
   *
   * @param elements little-endian bytes between position and limit, whatever the buffer's order; the position moves
   */
  void put(ByteBuffer elements);

  /** Where they can be read when all have come, or as far as they have; null if they are not kept. */
  DenseValues values();
}
