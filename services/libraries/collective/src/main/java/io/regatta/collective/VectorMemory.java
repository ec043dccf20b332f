package io.regatta.collective;

import io.netty.buffer.ByteBuf;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.protocol.memory.DirectMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * The vectors in which an aggregator sums for one group. Returned vectors are kept for the next call of the same
 * length, since a job makes the same calls in every step. Owned by the loop of the group.
 */
final class VectorMemory {
  private final long limitBytes;
  /** Vectors not in use, the most recently returned last. */
  private final Deque<ByteBuf> spare = new ArrayDeque<>();
  /** Bytes in use, and spare. */
  private long usedBytes;
  private long spareBytes;
  /** Length of the longest vector so far: the next one may be as long. */
  private long longestBytes;
  private boolean closed;

  /** @param memory null if it is the garbage collector's */
  record Vector(Tensor tensor, long bytes, ByteBuf memory) {}

  /**
   * @param limitBytes of one vector; and of those in use and spare together, provided that {@link #hasRoom} is asked
   *     before
   */
  VectorMemory(long limitBytes) {
    this.limitBytes = limitBytes;
  }

  /** Returns true if there is room for another vector as long as any so far; always if none is in use. */
  boolean hasRoom() {
    return usedBytes == 0 || usedBytes + longestBytes <= limitBytes;
  }

  /**
   * Takes a vector of this number of elements, with undefined content. If it is longer than any before, a length that
   * could not be known, it may pass the limit; at most by its own length.
   *
   * @param where for messages
   * @throws Overloaded if it is longer than the limit
   */
  Vector take(int elements, WireType wire, String where) {
    long bytes = (long) elements * (wire == WireType.INT64 ? Long.BYTES : Float.BYTES);
    if (bytes > limitBytes) {
      throw new Overloaded(where + ": the ranks have made a call of " + bytes + " bytes, but the aggregator holds " + limitBytes
          + " (gradient_aggregator.limits.bytes); raise that, or make calls of fewer elements (collective.bucket_bytes)");
    }
    Vector vector = wire == WireType.INT64 ? new Vector(Tensor.of(new long[elements]), bytes, null)
        : floats(memory((int) bytes), (int) bytes, wire);
    usedBytes += bytes;
    longestBytes = Math.max(longestBytes, bytes);
    return vector;
  }

  private static Vector floats(ByteBuf memory, int bytes, WireType wire) {
    return new Vector(Tensor.of(memory.nioBuffer(0, bytes)).on(wire), bytes, memory);
  }

  private ByteBuf memory(int bytes) {
    for (Iterator<ByteBuf> it = spare.iterator(); it.hasNext(); ) {
      ByteBuf kept = it.next();
      if (kept.capacity() == bytes) {
        it.remove();
        spareBytes -= bytes;
        return kept;
      }
    }
    while (!spare.isEmpty() && usedBytes + spareBytes + bytes > limitBytes) {
      release(spare.removeLast());
    }
    return DirectMemory.ALLOCATOR.directBuffer(bytes, bytes);
  }

  private void release(ByteBuf kept) {
    spareBytes -= kept.capacity();
    kept.release();
  }

  /** Returns a vector that is not used any more. */
  void giveBack(Vector vector) {
    usedBytes -= vector.bytes;
    if (vector.memory == null) {
      return;
    }
    if (closed) {
      vector.memory.release();
    } else {
      spare.addFirst(vector.memory);
      spareBytes += vector.bytes;
    }
  }

  /** Releases everything. */
  void close() {
    closed = true;
    while (!spare.isEmpty()) {
      release(spare.removeLast());
    }
  }
}
