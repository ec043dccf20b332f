package io.regatta.core.dense;

import java.nio.ByteBuffer;

/**
 * The float32 elements of a shard's dense vector, or of a gradient of it, to be read block by block or byte by byte,
 * wherever they lie. They stay as they are until {@link #release}. Owned by one thread at a time.
 */
public interface DenseValues {

  /** Elements of a block but the last: the unit in which a shard keeps, updates and repeats a dense vector. */
  int BLOCK = 8192;

  /** Number of elements. */
  int size();

  /**
   * Elements {@code [b · BLOCK .. )} of one block, from index 0 of an array which the caller must not change, and which
   * the next call may use again.
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
   * The bytes of these elements where they lie, if that is little-endian direct memory and they lie there together; else
   * null. They may be sent from there until {@link #release}.
   */
  default ByteBuffer direct(int from, int n) {
    return null;
  }

  /** How many elements from this one on {@link #direct} can give together; 0 if it gives none there. */
  default int together(int from) {
    return 0;
  }

  /** Number of blocks. */
  default int blocks() {
    return blocks(size());
  }

  /** Elements of one block. */
  default int length(int b) {
    return Math.min(BLOCK, size() - b * BLOCK);
  }

  /** Index of the first element that is NaN or infinite, or -1. */
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

  /** The value of one element; for messages. */
  default float at(int index) {
    return block(index / BLOCK)[index % BLOCK];
  }

  /** A copy in an array of its own. */
  default float[] toArray() {
    float[] out = new float[size()];
    for (int b = 0; b < blocks(); b++) {
      System.arraycopy(block(b), 0, out, b * BLOCK, length(b));
    }
    return out;
  }

  /** Nobody will read the elements before this one again: a block of them may be changed where it lies. */
  default void releaseUntil(int end) {}

  /** Nobody will read these values again, and their memory may be used for others. Repeating it changes nothing. */
  default void release() {}

  /** Number of blocks of a vector of so many elements. */
  static int blocks(int size) {
    return (int) (((long) size + BLOCK - 1) / BLOCK);
  }
}
