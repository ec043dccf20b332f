package io.regatta.core.collective;

import io.regatta.core.collective.schedule.Step;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;

/**
 * The vector of one rank in a collective call, in the caller's memory. Owned by one thread at a time. The call reads
 * and writes the memory without a copy, and borrows it until the call has ended.
 */
public abstract sealed class Tensor permits FloatTensor, LongTensor {

  /** Returns a tensor of the floats in an array, which is not copied. */
  public static Tensor of(float[] values) {
    return new FloatTensor(values, null, WireType.FLOAT32, null, 0, null);
  }

  /**
   * Returns a tensor of the floats in direct memory between the buffer's position and limit, little-endian whatever the
   * buffer's order. They are sent without a copy.
   *
   * @throws InvalidInput if the buffer is not direct, or holds no whole number of floats
   */
  public static Tensor of(ByteBuffer direct) {
    if (!direct.isDirect() || direct.remaining() % Float.BYTES != 0) {
      throw new InvalidInput("a tensor in a buffer of " + direct.remaining() + " bytes, direct: " + direct.isDirect()
          + "; give a direct buffer with 4 bytes for each float, or an array");
    }
    return new FloatTensor(null, direct.slice(), WireType.FLOAT32, null, 0, null);
  }

  /**
   * Returns a tensor of the floats {@code [from .. to)} of this memory, which others may read directly, if they can.
   */
  public static Tensor of(TensorMemory memory, int from, int to) {
    return new FloatTensor(null, memory.floats(from, to), WireType.FLOAT32, memory, from * Float.BYTES, null);
  }

  /** Returns a tensor of the counters in an array, which is not copied. */
  public static Tensor of(long[] counters) {
    return new LongTensor(counters);
  }

  /**
   * Returns a tensor of the same memory whose elements are sent as this type; additions stay float32. With a narrower
   * type all ranks end with the same values of that type, except a single rank alone, whose elements are not sent.
   *
   * @throws InvalidInput if memory and wire type do not go together
   */
  public abstract Tensor on(WireType wire);

  /**
   * Returns a tensor of the same memory for one all-reduce that sums, which checks for NaN and infinity where that
   * costs next to nothing. {@link #isKnownFinite} returns the result. On a wire that narrows nothing is checked.
   */
  public Tensor watched() {
    return this;
  }

  /**
   * Returns true if all elements of a {@link #watched} tensor are finite; false if they are not, or it is not known. To
   * be called after the call.
   */
  public boolean isKnownFinite() {
    return false;
  }

  public abstract WireType wire();

  /** Returns the number of elements. */
  public abstract int size();

  /** Scratch memory, owned by the thread that carries calls out. */
  public static final class Workspace {
    static final int ELEMENTS = 2048;
    final float[] own = new float[ELEMENTS];
    final float[] received = new float[ELEMENTS];
    final short[] narrow = new short[ELEMENTS];
    long[] ownLongs;
    long[] receivedLongs;
  }

  /** Returns the bytes of these elements without a copy, if they can be sent from there; else null. */
  public abstract ByteBuffer lent(int from, int count);

  /** Returns the memory that this was made of, or null if it was not made of {@link TensorMemory}. */
  public TensorMemory memory() {
    return null;
  }

  /** Returns the offset of an element in {@link #memory}, in bytes. */
  public int memoryAt(int element) {
    throw new UnsupportedOperationException("nothing is known of its memory");
  }

  /** Writes these elements, in the form in which they are sent, at the buffer's position. */
  public abstract void encode(int from, int count, ByteBuffer to, Workspace workspace);

  /** Replaces the elements starting at {@code at} by those received, a whole number of them. */
  public abstract void copy(int at, ByteBuffer elements, Workspace workspace);

  /** Reduces those received into the elements starting at {@code at}. */
  public abstract void reduce(ReduceOp op, int at, ByteBuffer elements, Workspace workspace);

  /**
   * Prepares this rank's own elements, before the first of its steps that sends them, or reduces others into them
   * ({@link Step#isFirst}). With a narrower wire the contribution to a mean is divided here, not at the end, as in
   * PyTorch's {@code fp16_compress_hook}. No partial sum then leaves the range of the wire if the mean does not.
   * Elements that are sent to the others as they are get rounded, as the others will receive them.
   */
  public abstract void begin(Operation operation, ReduceOp op, int ranks, int from, int count, Workspace workspace);

  /**
   * Completes a reduction of these elements: divides a mean, unless {@link #begin} has, and rounds to what the others
   * will receive. All ranks thus have the same bits.
   */
  public abstract void complete(ReduceOp op, int ranks, int from, int count, Workspace workspace);

  /**
   * Checks that this tensor can be reduced by that operation.
   *
   * @throws InvalidInput if it cannot
   */
  public void check(ReduceOp op) {
    if (op == ReduceOp.MEAN && wire() == WireType.INT64) {
      throw new InvalidInput("a mean of counters is no whole number; sum them, and divide");
    }
  }
}
