package io.regatta.heterworker.dense;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;

/** Direct memory for the dense gradients of one trainer, which is used again. Any thread. */
final class GradientBuffers {

  /** Buffers that are kept for later: as many as batches may be under way, and a push. */
  private static final int MOST_FREE = 4;

  private final int bytes;
  private final ArrayDeque<ByteBuffer> free = new ArrayDeque<>();

  /** Creates a pool of buffers of this size. */
  GradientBuffers(int bytes) {
    this.bytes = bytes;
  }

  /** Returns a buffer, little-endian, whose content is arbitrary. */
  synchronized ByteBuffer take() {
    ByteBuffer buffer = free.poll();
    return buffer != null ? buffer : ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Takes a buffer back that nobody uses; null does nothing. */
  synchronized void giveBack(ByteBuffer buffer) {
    if (buffer != null && free.size() < MOST_FREE) {
      free.add(buffer);
    }
  }
}
