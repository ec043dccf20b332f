package io.regatta.core.collective.compress;

import java.util.Arrays;

/**
 * A selection of the k elements of a vector that are largest in magnitude; of equal ones, those of lower index. It
 * returns exactly k, and depends on the vector alone. It has scratch memory, so one thread at a time may use it.
 *
 * <p>It uses a threshold from a sample, as in Lin et al., "Deep gradient compression" (2018). Elements at least as
 * large as a magnitude of the sample are candidates, and among these the k-th largest is found exactly. If there are
 * fewer than k candidates, a lower magnitude is tried. A large vector is thus mostly read once. The paper may send a
 * few more or fewer; here all ranks' messages have the same length.
 */
final class TopK {

  /**
   * Distance of the sample's elements: 1 %, as in the paper; a prime, so that it does not follow the columns of a
   * matrix.
   */
  private static final int STRIDE = 101;
  /** Smallest useful sample: a smaller one says too little to be worth its time. */
  private static final int LEAST_SAMPLE = 200;
  /** As numbers, a float's bits without the sign are in the order of magnitudes. */
  private static final int MAGNITUDE = 0x7fff_ffff;
  /** The digits by which magnitudes are compared: lowest bit and number of bits of each, from the highest. */
  private static final int[][] DIGITS = {{20, 11}, {10, 10}, {0, 10}};

  private final int[] counts = new int[1 << DIGITS[0][1]];
  private int[] candidates = new int[0];
  /** Magnitudes of the candidates. */
  private int[] magnitudes = new int[0];
  private int[] sample = new int[0];

  /**
   * Selects among {@code v[from .. from + n)}. NaN counts as larger than infinity.
   *
   * @param k in {@code [0 .. n]}
   * @param out receives the selected indices of {@code v}, rising, starting at {@code at}
   */
  void select(float[] v, int from, int n, int k, int[] out, int at) {
    if (k == 0) {
      return;
    }
    int found = candidates(v, from, n, k);
    int least = largest(magnitudes, found, k);
    int ofLeast = k;
    for (int c = 0; c < found; c++) {
      ofLeast -= magnitudes[c] > least ? 1 : 0;
    }
    int put = at;
    for (int c = 0; c < found; c++) {
      if (magnitudes[c] > least || magnitudes[c] == least && ofLeast-- > 0) {
        out[put++] = candidates[c];
      }
    }
  }

  /**
   * Finds candidates: at least k elements, and all that are as large as the least of them, in the order of their
   * indices.
   */
  private int candidates(float[] v, int from, int n, int k) {
    if (magnitudes.length < n) {
      candidates = new int[n];
      magnitudes = new int[n];
    }
    int sampled = n / STRIDE;
    if (sampled < LEAST_SAMPLE) {
      return atLeast(v, from, n, 0);
    }
    if (sample.length < sampled) {
      sample = new int[sampled];
    }
    for (int s = 0; s < sampled; s++) {
      sample[s] = Float.floatToRawIntBits(v[from + s * STRIDE]) & MAGNITUDE;
    }
    double expected = (double) k * sampled / n;
    // More than expected by two standard deviations of its count: too few candidates cost another pass.
    for (double rank = expected + 2 * Math.sqrt(expected) + 2; rank < sampled; rank *= 4) {
      int found = atLeast(v, from, n, largest(sample, sampled, (int) rank));
      if (found >= k) {
        return found;
      }
    }
    return atLeast(v, from, n, 0);
  }

  private int atLeast(float[] v, int from, int n, int threshold) {
    int found = 0;
    for (int i = from; i < from + n; i++) {
      int magnitude = Float.floatToRawIntBits(v[i]) & MAGNITUDE;
      if (magnitude >= threshold) {
        candidates[found] = i;
        magnitudes[found++] = magnitude;
      }
    }
    return found;
  }

  /**
   * Returns the k-th largest of the first n values, k from 1. It works digit by digit, in a time that does not depend
   * on their order.
   */
  private int largest(int[] values, int n, int k) {
    int left = k;
    int prefix = 0;
    int known = 0; // bits of the prefix that are fixed
    for (int[] digit : DIGITS) {
      int mask = (1 << digit[1]) - 1;
      Arrays.fill(counts, 0, mask + 1, 0);
      for (int i = 0; i < n; i++) {
        if ((values[i] & known) == prefix) {
          counts[values[i] >>> digit[0] & mask]++;
        }
      }
      int at = mask;
      while (counts[at] < left) {
        left -= counts[at--];
      }
      prefix |= at << digit[0];
      known |= mask << digit[0];
    }
    return prefix;
  }
}
