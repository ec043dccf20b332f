package io.regatta.core.metrics;

/**
 * A sum of non-negative numbers, each rounded to a whole number of 2^-30. Not thread-safe; one owner. It has the same
 * bits for any order and grouping of the numbers. Holds 3·10^16 in all, so that no run's examples are too many.
 */
final class FixedPointSum {

  /** Numbers by which {@link #write} represents a sum. */
  static final int PARTS = 2;

  private static final double UNITS = 1L << 30;
  private static final int LOW_BITS = 32;
  private static final long LOW_MASK = (1L << LOW_BITS) - 1;
  /** Up to here a double holds each whole number. */
  private static final long HIGH_MAX = 1L << 53;

  /** Units of 2^32·2^-30. */
  private long high;
  /** Units of 2^-30 beside them, below 2^32. */
  private long low;

  void add(double value) {
    long units = Math.round(value * UNITS);
    add(units >> LOW_BITS, units & LOW_MASK);
  }

  void add(FixedPointSum other) {
    add(other.high, other.low);
  }

  private void add(long moreHigh, long moreLow) {
    long lows = Math.addExact(low, moreLow);
    long highs = Math.addExact(Math.addExact(high, moreHigh), lows >> LOW_BITS);
    if (highs > HIGH_MAX) {
      throw new ArithmeticException("a sum of metrics is above " + HIGH_MAX * ((1L << LOW_BITS) / UNITS));
    }
    high = highs;
    low = lows & LOW_MASK;
  }

  void reset() {
    high = 0;
    low = 0;
  }

  double value() {
    boolean fits = high <= Long.MAX_VALUE >> LOW_BITS;
    return fits ? (high << LOW_BITS | low) / UNITS : high * ((1L << LOW_BITS) / UNITS) + low / UNITS;
  }

  /** Writes the sum to {@code out[at .. at + PARTS)} as whole numbers, which stay exact when others' are added to them. */
  void write(double[] out, int at) {
    out[at] = high;
    out[at + 1] = low;
  }

  /** Sets this to a sum that {@link #write} has written, or to the total of several; both are whole numbers. */
  void read(long highs, long lows) {
    reset();
    add(highs, lows);
  }
}
