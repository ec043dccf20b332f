package io.regatta.core.metrics;

/**
 * A sum of non-negative numbers, each rounded to a whole number of 2^-30: the same bits in whatever order they come and
 * however they are grouped. Holds 8.5·10^9 in all. Not thread-safe; one owner.
 */
final class FixedPointSum {

  /** Numbers by which {@link #write} tells a sum. */
  static final int PARTS = 2;

  private static final double UNITS = 1L << 30;
  /** A sum travels as two whole numbers, so that sums of sums stay exact as doubles over 2^21 ranks. */
  private static final int LOW_BITS = 32;

  private long units;

  void add(double value) {
    units = Math.addExact(units, Math.round(value * UNITS));
  }

  void add(FixedPointSum other) {
    units = Math.addExact(units, other.units);
  }

  void reset() {
    units = 0;
  }

  double value() {
    return units / UNITS;
  }

  /** Puts the sum to {@code out[at .. at + PARTS)}, to be added there to others' as doubles. */
  void write(double[] out, int at) {
    out[at] = units >> LOW_BITS;
    out[at + 1] = units & (1L << LOW_BITS) - 1;
  }

  /** Takes over what {@link #write} has told, or a sum of it; both are whole numbers. */
  void read(long high, long low) {
    units = Math.addExact(Math.multiplyExact(high, 1L << LOW_BITS), low);
  }
}
