package io.regatta.data.format;

/**
 * A remainder of 32-bit numbers by a fixed divisor, computed by multiplication in a fraction of the time of a division.
 * See Lemire, Kaser and Kurz, "Faster remainder by direct computation", 2019. Exact. Immutable; any thread may use it.
 */
final class Remainder32 {

  private final long divisor;
  /** 2⁶⁴ / divisor, rounded up; 0 if every 32-bit number is its own remainder, or the divisor is 1. */
  private final long reciprocal;

  /** @param divisor at least 1; may be larger than 32 bits */
  Remainder32(long divisor) {
    this.divisor = divisor;
    this.reciprocal = divisor == 1 || divisor > 0xFFFFFFFFL ? 0 : Long.divideUnsigned(-1L, divisor) + 1;
  }

  /** Returns {@code value}, taken as unsigned, modulo the divisor. */
  long of(int value) {
    long unsigned = Integer.toUnsignedLong(value);
    if (reciprocal == 0) {
      return divisor == 1 ? 0 : unsigned;
    }
    long fraction = reciprocal * unsigned;
    return Math.multiplyHigh(fraction, divisor) + (fraction < 0 ? divisor : 0);
  }
}
