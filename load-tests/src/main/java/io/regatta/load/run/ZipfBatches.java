package io.regatta.load.run;

import java.util.SplittableRandom;
import java.util.stream.LongStream;

/**
 * Ids of batches as in click logs. Every slot of every example takes one of the ids with probability proportional to 1
 * / rank (Zipf's law with exponent 1, by inversion of its continuous form). Stateless.
 */
public final class ZipfBatches {
  public static final int SLOTS = 26;
  public static final int EXAMPLES = 1000;
  /** Number of raw ids of a batch. */
  public static final int RAW = SLOTS * EXAMPLES;
  /** Odd, so that no two ranks share an id; neighbours in rank are no neighbours as ids. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  private ZipfBatches() {}

  /** Returns the id of a rank in [0, ids). */
  public static long id(long rank) {
    return rank * SPREAD;
  }

  /** Returns the distinct ids of this number of batches, in order of first appearance. */
  public static long[][] distinct(int batches, long ids, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double scale = Math.log(ids + 1.0);
    long[][] out = new long[batches][];
    for (int b = 0; b < batches; b++) {
      out[b] = LongStream.generate(() -> id(Math.min(ids, (long) Math.exp(random.nextDouble() * scale)) - 1))
          .limit(RAW).distinct().toArray();
    }
    return out;
  }
}
