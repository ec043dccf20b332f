package io.regatta.core.dense;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DensePartition;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/**
 * A trainer's memory for a flat dense vector, which it reuses: an array, or direct memory of an engine. Pushes from
 * direct memory are sent without a copy, and pulls are written directly to their destination. The memory is the
 * caller's; while a call borrows it, it belongs to the code that carries the call out.
 */
public final class DenseMemory implements DenseValues {

  private final int size;
  /** Null for direct memory. */
  private float[] array;
  private ByteBuffer direct;
  /** Factor of the elements as they are read. */
  private float factor;
  /** True if the elements have been checked: none is NaN or infinite. */
  private final boolean finite;
  private boolean takenBack;
  private float[] scratch;

  private DenseMemory(int size, float[] array, ByteBuffer direct, float factor, boolean finite) {
    this.size = size;
    this.array = array;
    this.direct = direct;
    this.factor = factor;
    this.finite = finite;
  }

  /** Returns an array as it is, not a copy; null for null. */
  public static DenseMemory of(float[] flat) {
    return flat == null ? null : new DenseMemory(flat.length, flat, null, 1, false);
  }

  /**
   * Returns the direct memory between the buffer's position and limit: the elements' little-endian bytes, whatever the
   * buffer's order. The buffer's own position and limit may change afterwards.
   *
   * @throws InvalidInput if the buffer is not direct, or holds no whole number of elements
   */
  public static DenseMemory of(ByteBuffer direct) {
    if (!direct.isDirect() || direct.remaining() % Float.BYTES != 0) {
      throw new InvalidInput("a dense vector in a buffer of " + direct.remaining() + " bytes, direct: "
          + direct.isDirect() + "; give a direct buffer with 4 bytes for each element, or an array");
    }
    return new DenseMemory(direct.remaining() / Float.BYTES, null, direct.slice().order(ByteOrder.LITTLE_ENDIAN), 1,
        false);
  }

  /** Returns the same memory for one call, which {@link #takeBack} can end. */
  public DenseMemory lend() {
    return new DenseMemory(size, array, direct, factor, finite);
  }

  /**
   * Returns the same memory, whose elements are multiplied when they are read, block by block, which saves a pass over
   * all of them. To be read only; {@link #direct} returns null, because the memory itself is not multiplied.
   */
  public DenseMemory times(float by) {
    return new DenseMemory(size, array, direct, factor * by, finite && Math.abs(by) <= 1);
  }

  /** Returns the same memory, which has been checked for NaN and infinity: {@link #nonFinite} does not check again. */
  public DenseMemory knownFinite() {
    return new DenseMemory(size, array, direct, factor, true);
  }

  /**
   * Takes the memory back from its borrowers: from now on they read a private copy, and do not touch the memory.
   * Buffers that {@link #direct} has returned remain valid. To be called on the borrowers' thread.
   */
  public void takeBack() {
    if (!takenBack) {
      array = toArray();
      direct = null;
      factor = 1;
      takenBack = true;
    }
  }

  @Override
  public int size() {
    return size;
  }

  /** Returns the underlying array, or null if it is direct memory, or its elements are multiplied ({@link #times}). */
  public float[] array() {
    return factor == 1 ? array : null;
  }

  /** Returns the part of a shard, as a vector of its own in this memory. */
  public DenseSlice slice(DensePartition partition, int shard) {
    return new DenseSlice(this, partition.partsOf(shard));
  }

  @Override
  public float[] block(int b) {
    if (scratch == null) {
      scratch = new float[Math.min(BLOCK, size)];
    }
    read(b * BLOCK, scratch, 0, length(b));
    return scratch;
  }

  @Override
  public void copy(int from, int n, ByteBuffer to) {
    if (factor != 1) {
      DenseValues.super.copy(from, n, to);
    } else if (array != null) {
      LittleEndian.put(array, from, n, to);
    } else {
      to.put(bytes(from, n));
    }
  }

  private ByteBuffer bytes(int from, int n) {
    return direct.slice(from * Float.BYTES, n * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public ByteBuffer direct(int from, int n) {
    return array != null || factor != 1 ? null : bytes(from, n);
  }

  @Override
  public int together(int from) {
    return array != null || factor != 1 ? 0 : size - from;
  }

  @Override
  public int nonFinite() {
    if (finite) {
      return -1;
    }
    if (array != null && factor == 1) {
      return NonFinite.find(array);
    }
    FloatBuffer all = array != null ? FloatBuffer.wrap(array) : direct.asFloatBuffer();
    return NonFinite.isFinite(size, (from, to, n) -> {
      all.get(from, to, 0, n);
      multiply(to, 0, n);
    }) ? -1 : DenseValues.super.nonFinite();
  }

  @Override
  public float[] toArray() {
    float[] out = new float[size];
    read(0, out, 0, size);
    return out;
  }

  /** Sets all elements. */
  public void set(float[] flat) {
    write(0, flat, 0, size);
  }

  void read(int from, float[] to, int at, int n) {
    if (array != null) {
      System.arraycopy(array, from, to, at, n);
    } else {
      LittleEndian.get(bytes(from, n), to, at, n);
    }
    multiply(to, at, n);
  }

  private void multiply(float[] v, int at, int n) {
    float by = factor;
    if (by == 1) {
      return;
    }
    int end = at + n;
    for (int i = at; i < end; i++) {
      v[i] *= by;
    }
  }

  void write(int at, float[] from, int first, int n) {
    if (array != null) {
      System.arraycopy(from, first, array, at, n);
    } else {
      LittleEndian.put(from, first, n, bytes(at, n));
    }
  }

  /** Writes {@code n} elements, which it reads from the bytes. */
  void write(int at, int n, ByteBuffer elements) {
    if (array != null) {
      LittleEndian.get(elements, array, at, n);
    } else {
      direct.put(at * Float.BYTES, elements, elements.position(), n * Float.BYTES);
      elements.position(elements.position() + n * Float.BYTES);
    }
  }
}
