package io.regatta.core.text;

import java.nio.charset.StandardCharsets;

/** A parser of decimal numbers in bytes of text. Stateless; any thread. */
public final class Decimal {

  private static final long MANTISSA_MAX = 1L << 53;
  private static final int DIGITS_MAX = 18;
  private static final int EXPONENT_DIGITS_MAX = 4;
  private static final double[] POWERS = new double[23];

  static {
    for (int i = 0; i < POWERS.length; i++) {
      POWERS[i] = Double.parseDouble("1e" + i);
    }
  }

  private Decimal() {}

  /**
   * Parses a decimal number with or without sign, fraction and exponent. Returns the same double as {@link
   * Double#parseDouble}; NaN if {@code bytes[from..to)} is no such number or not finite. Blanks, hexadecimal numbers,
   * {@code NaN} and a final {@code d} or {@code f} are no numbers. Numbers of few digits are exact after one
   * multiplication or division (Clinger, "How to Read Floating Point Numbers Accurately", 1990).
   */
  public static double parse(byte[] bytes, int from, int to) {
    int i = from;
    boolean negative = i < to && bytes[i] == '-';
    if (i < to && (negative || bytes[i] == '+')) {
      i++;
    }
    long mantissa = 0;
    int digits = 0;
    int exponent = 0;
    boolean point = false;
    for (; i < to; i++) {
      int digit = bytes[i] - '0';
      if (digit >= 0 && digit <= 9) {
        mantissa = 10 * mantissa + digit; // of too many digits it is not used
        digits++;
        exponent -= point ? 1 : 0;
      } else if (bytes[i] == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    if (digits == 0) {
      return Double.NaN;
    }
    if (i < to) {
      if (bytes[i] != 'e' && bytes[i] != 'E') {
        return Double.NaN;
      }
      int at = ++i;
      boolean less = at < to && bytes[at] == '-';
      if (at < to && (less || bytes[at] == '+')) {
        at++;
      }
      int first = at;
      int written = 0;
      for (; at < to && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
        written = at - first < EXPONENT_DIGITS_MAX ? 10 * written + bytes[at] - '0' : written;
      }
      if (at < to || at == first) {
        return Double.NaN;
      }
      if (at - first > EXPONENT_DIGITS_MAX) {
        return slowly(bytes, from, to);
      }
      exponent += less ? -written : written;
    }
    if (digits > DIGITS_MAX || mantissa > MANTISSA_MAX || Math.abs(exponent) >= POWERS.length) {
      return slowly(bytes, from, to);
    }
    double value = exponent < 0 ? mantissa / POWERS[-exponent] : mantissa * POWERS[exponent];
    return negative ? -value : value;
  }

  private static double slowly(byte[] bytes, int from, int to) {
    double value = Double.parseDouble(new String(bytes, from, to - from, StandardCharsets.US_ASCII));
    return Double.isInfinite(value) ? Double.NaN : value;
  }
}
