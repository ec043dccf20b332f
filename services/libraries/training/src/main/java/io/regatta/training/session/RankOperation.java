package io.regatta.training.session;

import java.util.List;

/**
 * An operation that the ranks of an elastic job do together. An attempt ends with {@code PeerLost} when the generation
 * is over, and leaves this rank unchanged. Then either some rank has completed the operation, and sends its result to
 * all, or all remaining ranks attempt it again. Belongs to a model thread.
 */
public interface RankOperation {

  /** Returns the name for messages, e.g. {@code step 418}. */
  String name();

  /** Returns true if this rank holds a batch of the ledger that it trains in this operation. */
  default boolean holdsBatch() {
    return false;
  }

  /** Returns true if it is part of a call that the program has begun. */
  default boolean isCall() {
    return false;
  }

  /** Attempts it in the current generation; returns the result, which is the same on all ranks. */
  Result attempt();

  /**
   * Notes that others have completed it; this rank already has their state, if the operation changes it.
   *
   * @param result of another rank's {@link #attempt}
   */
  void completed(Result result);

  /** The result of an operation. The arrays must not be changed. */
  record Result(long[] longs, float[] floats) {

    public static final Result NONE = new Result(new long[0], new float[0]);

    long[] packed() {
      long[] bits = new long[floats.length];
      for (int i = 0; i < bits.length; i++) {
        bits[i] = Float.floatToRawIntBits(floats[i]);
      }
      return Recovery.packed(longs, bits);
    }

    static Result of(long[] packed) {
      List<long[]> parts = Recovery.unpacked(packed);
      float[] floats = new float[parts.get(1).length];
      for (int i = 0; i < floats.length; i++) {
        floats[i] = Float.intBitsToFloat((int) parts.get(1)[i]);
      }
      return new Result(parts.get(0), floats);
    }
  }
}
