package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.ShortBuffer;

/**
 * A vector of floats in an array or in direct memory. Works on blocks that stay in the cache, see {@link
 * ReduceOp#apply}.
 */
final class FloatTensor extends Tensor {
  /** Null for direct memory. */
  private final float[] array;
  private final ByteBuffer direct;
  private final FloatBuffer floats;
  private final WireType wire;
  /** Null if the memory is not of this kind. */
  private final TensorMemory memory;
  /** Offset in {@link #memory}, in bytes. */
  private final int memoryAt;
  /** Null if the elements are not checked. */
  private final FiniteWatch watch;

  FloatTensor(float[] array, ByteBuffer direct, WireType wire, TensorMemory memory, int memoryAt, FiniteWatch watch) {
    this.array = array;
    this.direct = direct == null ? null : direct.order(ByteOrder.LITTLE_ENDIAN);
    this.floats = direct == null ? FloatBuffer.wrap(array) : direct.asFloatBuffer();
    this.wire = wire;
    this.memory = memory;
    this.memoryAt = memoryAt;
    this.watch = watch;
  }

  @Override
  public Tensor on(WireType type) {
    if (type == WireType.INT64) {
      throw new InvalidInput("floats do not travel as int64; give FLOAT32, FLOAT16 or BFLOAT16, or counters as long[]");
    }
    return new FloatTensor(array, direct, type, memory, memoryAt, null);
  }

  @Override
  public Tensor watched() {
    return wire == WireType.FLOAT32 ? new FloatTensor(array, direct, wire, memory, memoryAt, new FiniteWatch()) : this;
  }

  @Override
  public boolean isKnownFinite() {
    return watch != null && watch.isFinite(size());
  }

  @Override
  public WireType wire() {
    return wire;
  }

  @Override
  public int size() {
    return floats.capacity();
  }

  @Override
  public ByteBuffer lent(int from, int count) {
    return direct == null || wire != WireType.FLOAT32 ? null
        : direct.slice(from * Float.BYTES, count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  @Override
  public TensorMemory memory() {
    return memory;
  }

  @Override
  public int memoryAt(int element) {
    return memoryAt + element * Float.BYTES;
  }

  @Override
  public void encode(int from, int count, ByteBuffer to, Workspace w) {
    to.order(ByteOrder.LITTLE_ENDIAN);
    if (wire == WireType.FLOAT32) {
      to.asFloatBuffer().put(0, floats, from, count);
    } else {
      ShortBuffer shorts = to.asShortBuffer();
      for (int done = 0; done < count; ) {
        int n = Math.min(Workspace.ELEMENTS, count - done);
        floats.get(from + done, w.own, 0, n);
        Float16.narrow(wire, w.own, w.narrow, n);
        shorts.put(done, w.narrow, 0, n);
        done += n;
      }
    }
    to.position(to.position() + count * wire.bytes());
  }

  @Override
  public void copy(int at, ByteBuffer elements, Workspace w) {
    elements.order(ByteOrder.LITTLE_ENDIAN);
    int count = elements.remaining() / wire.bytes();
    if (watch != null) {
      copyWatched(at, elements.asFloatBuffer(), count, w);
    } else if (wire == WireType.FLOAT32) {
      floats.put(at, elements.asFloatBuffer(), 0, count);
    } else {
      ShortBuffer shorts = elements.asShortBuffer();
      for (int done = 0; done < count; ) {
        int n = Math.min(Workspace.ELEMENTS, count - done);
        take(shorts, done, n, w);
        floats.put(at + done, w.received, 0, n);
        done += n;
      }
    }
    elements.position(elements.limit());
  }

  private void copyWatched(int at, FloatBuffer elements, int count, Workspace w) {
    for (int done = 0; done < count; ) {
      int n = Math.min(Workspace.ELEMENTS, count - done);
      elements.get(done, w.received, 0, n);
      watch.look(w.received, n);
      floats.put(at + done, w.received, 0, n);
      done += n;
    }
    watch.done(count);
  }

  @Override
  public void reduce(ReduceOp op, int at, ByteBuffer elements, Workspace w) {
    elements.order(ByteOrder.LITTLE_ENDIAN);
    int count = elements.remaining() / wire.bytes();
    FloatBuffer whole = wire == WireType.FLOAT32 ? elements.asFloatBuffer() : null;
    ShortBuffer narrow = wire == WireType.FLOAT32 ? null : elements.asShortBuffer();
    for (int done = 0; done < count; ) {
      int n = Math.min(Workspace.ELEMENTS, count - done);
      if (whole != null) {
        whole.get(done, w.received, 0, n);
      } else {
        take(narrow, done, n, w);
      }
      floats.get(at + done, w.own, 0, n);
      op.apply(w.own, w.received, n);
      if (watch != null) {
        watch.look(w.own, n);
      }
      floats.put(at + done, w.own, 0, n);
      done += n;
    }
    elements.position(elements.limit());
  }

  private void take(ShortBuffer elements, int first, int n, Workspace w) {
    elements.get(first, w.narrow, 0, n);
    Float16.widen(wire, w.narrow, w.received, n);
  }

  @Override
  public void begin(Operation operation, ReduceOp op, int ranks, int from, int count, Workspace w) {
    if (wire.narrows() && (!operation.reduces() || op == ReduceOp.MEAN)) {
      change(from, count, operation.reduces() ? ranks : 1, !operation.reduces(), 0, w);
    }
  }

  @Override
  public void complete(ReduceOp op, int ranks, int from, int count, Workspace w) {
    if (watch != null) {
      watch.done(count);
    }
    boolean mean = op == ReduceOp.MEAN;
    if (mean || wire.narrows()) {
      float beyond = mean && wire == WireType.FLOAT16 ? Float16.MAX * (1 + ranks * Float16.UNIT_ROUNDOFF) : 0;
      change(from, count, mean && !wire.narrows() ? ranks : 1, wire.narrows(), beyond, w);
    }
  }

  /**
   * Divides and rounds in place.
   *
   * @param beyond a smaller magnitude counts as within the range: only roundings on the way have put it outside
   */
  private void change(int from, int count, int divisor, boolean round, float beyond, Workspace w) {
    for (int done = 0; done < count; ) {
      int n = Math.min(Workspace.ELEMENTS, count - done);
      floats.get(from + done, w.own, 0, n);
      if (divisor > 1) {
        divide(w.own, divisor, n);
      }
      if (beyond > 0) {
        keepWithin(w.own, beyond, n);
      }
      if (round) {
        Float16.narrow(wire, w.own, w.narrow, n);
        Float16.widen(wire, w.narrow, w.own, n);
      }
      floats.put(from + done, w.own, 0, n);
      done += n;
    }
  }

  private static void divide(float[] values, float by, int n) {
    for (int i = 0; i < n; i++) {
      values[i] /= by;
    }
  }

  private static void keepWithin(float[] values, float beyond, int n) {
    for (int i = 0; i < n; i++) {
      values[i] = Math.abs(values[i]) < beyond ? Math.max(-Float16.MAX, Math.min(Float16.MAX, values[i])) : values[i];
    }
  }
}
