package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;

/**
 * An exact sum of non-negative finite doubles of any size. Not thread-safe; one owner. It is a fixed-point number as
 * wide as the range of a double, after Kulisch ("Computer arithmetic and validity", 2013, chapter 8). Its value,
 * rounded once, has the same bits for any order and grouping of the numbers. Holds 2^20 times the greatest double.
 */
final class ExactSum {

  private static final int LIMB_BITS = 32;
  private static final long LIMB = (1L << LIMB_BITS) - 1;
  /** Exponent of the last bit of the smallest double. */
  private static final int LOWEST_EXPONENT = -1074;
  private static final BigDecimal UNIT = BigDecimal.ONE.divide(new BigDecimal(BigInteger.ONE.shiftLeft(-LOWEST_EXPONENT)));
  /** Number of limbs: 2098 bits of a double's range and 20 more, in whole limbs. */
  private static final int LIMBS = 67;

  /** Number of doubles in which {@link #write} represents a sum. */
  static final int PARTS = LIMBS;

  /** Limbs of 32 bits each, the lowest first. */
  private final long[] limbs = new long[LIMBS];

  void add(double value) {
    long bits = Double.doubleToRawLongBits(value);
    int exponent = (int) (bits >>> 52); // of a non-negative number
    if (exponent >= 0x7ff) {
      throw new IllegalArgumentException("cannot sum " + value);
    }
    long mantissa = bits & (1L << 52) - 1 | (exponent == 0 ? 0 : 1L << 52);
    int shift = Math.max(0, exponent - 1);
    int limb = shift / LIMB_BITS;
    int within = shift % LIMB_BITS;
    add(limb, mantissa << within & LIMB);
    add(limb + 1, mantissa >>> LIMB_BITS - within);
  }

  /** Adds a non-negative number of units of a limb, and carries what goes beyond it. */
  private void add(int limb, long units) {
    long carry = units;
    for (int i = limb; carry != 0; i++) {
      if (i == LIMBS) {
        throw new InvalidInput("sums of metrics are larger than the sum of any numbers: only adding sums up keeps them valid");
      }
      long sum = limbs[i] + carry;
      limbs[i] = sum & LIMB;
      carry = sum >>> LIMB_BITS;
    }
  }

  /** Adds another sum, or this one itself: from the highest limb on, so that no carry is added twice. */
  void add(ExactSum other) {
    for (int i = LIMBS - 1; i >= 0; i--) {
      add(i, other.limbs[i]);
    }
  }

  void reset() {
    Arrays.fill(limbs, 0);
  }

  /** Returns the sum, rounded to nearest. */
  double value() {
    return exact().doubleValue();
  }

  /** Returns the sum itself. */
  BigDecimal exact() {
    BigInteger sum = BigInteger.ZERO;
    for (int i = LIMBS - 1; i >= 0; i--) {
      sum = sum.shiftLeft(LIMB_BITS).add(BigInteger.valueOf(limbs[i]));
    }
    return new BigDecimal(sum).multiply(UNIT);
  }

  /**
   * Writes the sum to {@code out[at .. at + PARTS)} as whole numbers below 2^32, which stay exact when those of 2^21
   * others are added.
   */
  void write(double[] out, int at) {
    for (int i = 0; i < LIMBS; i++) {
      out[at + i] = limbs[i];
    }
  }

  /** Sets this to a sum that {@link #write} has written, or to the total of several. */
  void read(double[] sums, int at) {
    reset();
    for (int i = 0; i < LIMBS; i++) {
      long limb = (long) sums[at + i];
      if (limb != sums[at + i] || limb < 0) {
        throw new InvalidInput("sums of metrics hold " + sums[at + i]
            + ", which is no part of an exact sum: only adding sums up keeps them valid (no mean, no float32)");
      }
      add(i, limb);
    }
  }
}
