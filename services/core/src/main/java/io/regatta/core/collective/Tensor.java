package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;

/**
 * The vector of one rank in a collective call, in the caller's memory: it is read and written where it lies, and lent to
 * the call until that has ended. Owned by one thread at a time.
 */
public abstract sealed class Tensor permits FloatTensor, LongTensor {

  /** Floats in an array, as it is: not a copy. */
  public static Tensor of(float[] values) {
    return new FloatTensor(values, null, WireType.FLOAT32, null, 0, null);
  }

  /**
   * Floats in direct memory between the buffer's position and limit, little-endian whatever the buffer's order. They are
   * sent from where they lie.
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

  /** The floats {@code [from .. to)} of this memory, which others may read where they lie, if they can. */
  public static Tensor of(TensorMemory memory, int from, int to) {
    return new FloatTensor(null, memory.floats(from, to), WireType.FLOAT32, memory, from * Float.BYTES, null);
  }

  /** Counters in an array, as it is: not a copy. */
  public static Tensor of(long[] counters) {
    return new LongTensor(counters);
  }

  /**
   * The same memory, travelling as elements of this kind; additions stay float32. With a narrower type all ranks end with
   * values of that type, the same on all (but one rank alone, whose elements do not travel).
   *
   * @throws InvalidInput if memory and wire do not go together
   */
  public abstract Tensor on(WireType wire);

  /**
   * The same memory for one all-reduce that sums, which looks for NaN and infinity as it goes, where that costs next to nothing: {@link
   * #isKnownFinite} tells what it has seen. On a wire that narrows it sees nothing.
   */
  public Tensor watched() {
    return this;
  }

  /** Behind a call, of a {@link #watched} tensor: whether all elements are finite; false if that is not so, or not known. */
  public boolean isKnownFinite() {
    return false;
  }

  public abstract WireType wire();

  /** Elements. */
  public abstract int size();

  /** Memory to work with, owned by the thread that carries calls out. */
  public static final class Workspace {
    static final int ELEMENTS = 2048;
    final float[] own = new float[ELEMENTS];
    final float[] received = new float[ELEMENTS];
    final short[] narrow = new short[ELEMENTS];
    long[] ownLongs;
    long[] receivedLongs;
  }

  /** These elements' bytes where they lie, if they can be sent from there; else null. */
  public abstract ByteBuffer lent(int from, int count);

  /** What it lies in, if it was made of that; null otherwise. */
  public TensorMemory memory() {
    return null;
  }

  /** Where in {@link #memory} an element lies, in bytes. */
  public int memoryAt(int element) {
    throw new UnsupportedOperationException("nothing is known of its memory");
  }

  /** Puts these elements, as they travel, at the buffer's position. */
  public abstract void encode(int from, int count, ByteBuffer to, Workspace workspace);

  /** Replaces elements from {@code at} on by those that have come, a whole number of them. */
  public abstract void copy(int at, ByteBuffer elements, Workspace workspace);

  /** Reduces those that have come into the elements from {@code at} on. */
  public abstract void reduce(ReduceOp op, int at, ByteBuffer elements, Workspace workspace);

  /**
   * Begins with this rank's own elements, before the first of its steps that sends them, or reduces others into them (
   * {@link Step#isFirst}). With a narrower wire the contribution to a mean is divided here, not at the end, so that no sum on
   * its way leaves the range of the wire where the mean would not (as PyTorch's {@code fp16_compress_hook}); and what is given
   * to the others as it is, is rounded as they will get it.
   */
  public abstract void begin(Operation operation, ReduceOp op, int ranks, int from, int count, Workspace workspace);

  /**
   * Ends a reduction of these elements: divides a mean, unless {@link #begin} has, and rounds to what the others will get, so
   * that all ranks have the same bits.
   */
  public abstract void complete(ReduceOp op, int ranks, int from, int count, Workspace workspace);

  /** @throws InvalidInput if this cannot be reduced so */
  public void check(ReduceOp op) {
    if (op == ReduceOp.MEAN && wire() == WireType.INT64) {
      throw new InvalidInput("a mean of counters is no whole number; sum them, and divide");
    }
  }
}
