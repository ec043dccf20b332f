package io.regatta.training.session;

import java.util.List;

/**
 * One thing that the ranks of an elastic job do together. An attempt ends with {@code PeerLost} when the generation is over, and
 * leaves this rank as it was: then either some rank has completed the operation, and gives its result to all, or all who are
 * left attempt it again. Belongs to a model thread.
 */
public interface RankOperation {

  /** For messages, e.g. {@code step 418}. */
  String name();

  /** Whether this rank holds a batch of the ledger that it trains in this operation. */
  default boolean holdsBatch() {
    return false;
  }

  /** Whether it is part of a call that the program has begun. */
  default boolean isCall() {
    return false;
  }

  /** Attempts it in the current generation; returns the result, which is the same at all ranks. */
  Result attempt();

  /**
   * Others have completed it; this rank is at their state already, if the operation changes that.
   *
   * @param result as another rank's {@link #attempt} has returned it
   */
  void completed(Result result);

  /** What an operation comes to. Nobody changes the arrays. */
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
