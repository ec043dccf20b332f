package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** A vector of counters in an array. */
final class LongTensor extends Tensor {
  private final long[] array;

  LongTensor(long[] array) {
    this.array = array;
  }

  @Override
  public Tensor on(WireType type) {
    if (type != WireType.INT64) {
      throw new InvalidInput("counters travel as INT64 only, not as " + type);
    }
    return this;
  }

  @Override
  public WireType wire() {
    return WireType.INT64;
  }

  @Override
  public int size() {
    return array.length;
  }

  @Override
  public ByteBuffer lent(int from, int count) {
    return null;
  }

  @Override
  public void encode(int from, int count, ByteBuffer to, Workspace workspace) {
    to.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().put(array, from, count);
    to.position(to.position() + count * Long.BYTES);
  }

  @Override
  public void copy(int at, ByteBuffer elements, Workspace workspace) {
    elements.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(array, at, elements.remaining() / Long.BYTES);
    elements.position(elements.limit());
  }

  @Override
  public void reduce(ReduceOp op, int at, ByteBuffer elements, Workspace w) {
    if (w.ownLongs == null) {
      w.ownLongs = new long[Workspace.ELEMENTS];
      w.receivedLongs = new long[Workspace.ELEMENTS];
    }
    elements.order(ByteOrder.LITTLE_ENDIAN);
    int count = elements.remaining() / Long.BYTES;
    for (int done = 0; done < count; ) {
      int n = Math.min(Workspace.ELEMENTS, count - done);
      elements.asLongBuffer().get(done, w.receivedLongs, 0, n);
      System.arraycopy(array, at + done, w.ownLongs, 0, n);
      op.apply(w.ownLongs, w.receivedLongs, n);
      System.arraycopy(w.ownLongs, 0, array, at + done, n);
      done += n;
    }
    elements.position(elements.limit());
  }

  @Override
  public void begin(Operation operation, ReduceOp op, int ranks, int from, int count, Workspace workspace) {
    // travels as it is
  }

  @Override
  public void complete(ReduceOp op, int ranks, int from, int count, Workspace workspace) {
    // a sum, the least or the greatest is what it is
  }
}
