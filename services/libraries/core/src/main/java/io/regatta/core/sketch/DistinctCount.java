package io.regatta.core.sketch;

import it.unimi.dsi.fastutil.longs.LongIterator;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;

/**
 * The number of distinct values, by their 64-bit hashes. Exact up to {@value #EXACT_MAX}; of more it is an estimate of
 * HyperLogLog (Flajolet, Fusy, Gandouet, Meunier 2007) with 2^12 registers and the unbiased estimator of Ertl ("New
 * Cardinality Estimation Algorithms for HyperLogLog Sketches", 2017), whose standard error is {@link #ERROR}. One owner.
 */
public final class DistinctCount {

  /** Most distinct values that are counted exactly. */
  public static final int EXACT_MAX = 1024;

  private static final int REGISTER_BITS = 12;
  private static final int REGISTERS = 1 << REGISTER_BITS;
  /** Relative standard error of an estimate: 1.04 / √4096. */
  public static final double ERROR = 1.04 / 64;
  private static final int RANK_MAX = Long.SIZE - REGISTER_BITS + 1;
  private static final double ALPHA = 1 / (2 * StrictMath.log(2));

  /** The hashes; null once there are too many. */
  private LongOpenHashSet exact = new LongOpenHashSet();
  private byte[] registers;

  /** Adds a value. */
  public void add(long hash) {
    if (exact == null) {
      register(hash);
    } else if (exact.add(hash) && exact.size() > EXACT_MAX) {
      estimate();
    }
  }

  /** Adds the values of another one. */
  public void merge(DistinctCount other) {
    if (other.exact != null) {
      for (LongIterator hashes = other.exact.iterator(); hashes.hasNext(); ) {
        add(hashes.nextLong());
      }
      return;
    }
    estimate();
    for (int i = 0; i < REGISTERS; i++) {
      registers[i] = (byte) Math.max(registers[i], other.registers[i]);
    }
  }

  private void estimate() {
    if (exact != null) {
      registers = new byte[REGISTERS];
      exact.forEach(this::register);
      exact = null;
    }
  }

  private void register(long hash) {
    int index = (int) (hash >>> Long.SIZE - REGISTER_BITS);
    int rank = Math.min(RANK_MAX, Long.numberOfLeadingZeros(hash << REGISTER_BITS) + 1);
    if (registers[index] < rank) {
      registers[index] = (byte) rank;
    }
  }

  /** Returns true if the number is exact. */
  public boolean isExact() {
    return exact != null;
  }

  /** Returns the number of distinct values, or its estimate. */
  public long count() {
    if (exact != null) {
      return exact.size();
    }
    int[] ofRank = new int[RANK_MAX + 1];
    for (byte rank : registers) {
      ofRank[rank]++;
    }
    double z = REGISTERS * tau(1 - (double) ofRank[RANK_MAX] / REGISTERS);
    for (int rank = RANK_MAX - 1; rank > 0; rank--) {
      z = (z + ofRank[rank]) / 2;
    }
    z += REGISTERS * sigma((double) ofRank[0] / REGISTERS);
    return Math.round(ALPHA * REGISTERS * REGISTERS / z);
  }

  /** Ertl's σ: {@code x + Σ x^(2^k) · 2^(k−1)}. */
  private static double sigma(double share) {
    double x = share;
    double sum = x;
    double before;
    double factor = 1;
    do {
      x *= x;
      before = sum;
      sum += x * factor;
      factor *= 2;
    } while (sum != before && !Double.isInfinite(sum));
    return sum;
  }

  /** Ertl's τ: {@code (1 − x − Σ (1 − x^(2^−k))² · 2^(−k)) / 3}. */
  private static double tau(double share) {
    if (share == 0 || share == 1) {
      return 0;
    }
    double x = share;
    double sum = 1 - x;
    double before;
    double factor = 1;
    do {
      x = Math.sqrt(x);
      before = sum;
      factor /= 2;
      sum -= (1 - x) * (1 - x) * factor;
    } while (sum != before);
    return sum / 3;
  }
}
