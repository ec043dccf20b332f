package io.regatta.core.dense;

import java.nio.ByteBuffer;

/**
 * The float32 elements of a shard's dense vector, or of a gradient of it, to be read block by block or byte by byte,
 * wherever they lie. They do not change until {@link #release}. Owned by one thread at a time.
 */
public interface DenseValues {

  /**
   * Number of elements of each block except the last: the unit in which a shard keeps, updates and repeats a dense
   * vector.
   */
  int BLOCK = 8192;

  /** Returns the number of elements. */
  int size();

  /**
   * Returns elements {@code [b · BLOCK .. )} of one block, from index 0 of an array. The caller must not change the
   * array, and the next call may reuse it.
   */
  float[] block(int b);

  /** Writes the elements {@code [from .. from+n)} as little-endian bytes at the buffer's position, and moves that. */
  default void copy(int from, int n, ByteBuffer to) {
    int done = 0;
    while (done < n) {
      int b = (from + done) / BLOCK;
      int at = from + done - b * BLOCK;
      int part = Math.min(n - done, length(b) - at);
      LittleEndian.put(block(b), at, part, to);
      done += part;
    }
  }

  /**
   * Returns the bytes of these elements without a copy, if they are contiguous little-endian direct memory; else null.
   * They may be sent from there until {@link #release}.
   */
  default ByteBuffer direct(int from, int n) {
    return null;
  }

  /**
   * Returns the number of elements from this one that {@link #direct} can return at once; 0 if it returns null there.
   */
  default int together(int from) {
    return 0;
  }

  /** Returns the number of blocks. */
  default int blocks() {
    return blocks(size());
  }

  /** Returns the number of elements of one block. */
  default int length(int b) {
    return Math.min(BLOCK, size() - b * BLOCK);
  }

  /** Returns the index of the first element that is NaN or infinite, or -1. */
  default int nonFinite() {
    float[] marks = new float[Math.min(BLOCK, size())];
    for (int b = 0; b < blocks(); b++) {
      int bad = NonFinite.find(block(b), length(b), marks);
      if (bad >= 0) {
        return b * BLOCK + bad;
      }
    }
    return -1;
  }

  /** Returns the value of one element; for messages. */
  default float at(int index) {
    return block(index / BLOCK)[index % BLOCK];
  }

  /** Returns a copy in an array of its own. */
  default float[] toArray() {
    float[] out = new float[size()];
    for (int b = 0; b < blocks(); b++) {
      System.arraycopy(block(b), 0, out, b * BLOCK, length(b));
    }
    return out;
  }

  /** Releases the elements before this one, which are not read any more: a block of them may be changed in place. */
  default void releaseUntil(int end) {}

  /**
   * Releases these values, which are not read any more, so that their memory may be reused. Repeating it changes
   * nothing.
   */
  default void release() {}

  /** Returns the number of blocks of a vector of {@code size} elements. */
  static int blocks(int size) {
    return (int) (((long) size + BLOCK - 1) / BLOCK);
  }
}
