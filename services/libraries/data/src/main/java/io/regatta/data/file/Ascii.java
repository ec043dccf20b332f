package io.regatta.data.file;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A parser of numbers and separators in bytes of text, without creating strings. Stateless; any thread may use it. */
public final class Ascii {

  private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
  private static final int FLOAT_MANTISSA_MAX = 1 << 24;
  private static final long DOUBLE_MANTISSA_MAX = 1L << 53;
  private static final int MANTISSA_DIGITS_MAX = 18;
  private static final float[] FLOAT_POWERS = new float[11];
  private static final double[] DOUBLE_POWERS = new double[23];
  /** Bits of a double that do not fit into a float; the second pattern of them is half way between two floats. */
  private static final long HALF_BITS = 0x1FFFFFFFL;
  private static final long HALF_WAY = 0x10000000L;
  private static final double SMALL = 1e-37;

  static {
    for (int i = 0; i < DOUBLE_POWERS.length; i++) {
      DOUBLE_POWERS[i] = Double.parseDouble("1e" + i);
    }
    for (int i = 0; i < FLOAT_POWERS.length; i++) {
      FLOAT_POWERS[i] = (float) DOUBLE_POWERS[i];
    }
  }

  private Ascii() {}

  /** Returns the highest bit of each byte of {@code word} that is zero, and no others. */
  static long zeroBytes(long word) {
    return ~(((word & LOW_BITS) + LOW_BITS) | word | LOW_BITS);
  }

  /** Returns the index of the first {@code separator} in {@code bytes[from..to)}, or {@code to}. */
  public static int find(byte separator, byte[] bytes, int from, int to) {
    long pattern = (separator & 0xFFL) * 0x0101010101010101L;
    int i = from;
    for (; i + Long.BYTES <= to; i += Long.BYTES) {
      long found = zeroBytes((long) LONGS.get(bytes, i) ^ pattern);
      if (found != 0) {
        return i + (Long.numberOfTrailingZeros(found) >>> 3);
      }
    }
    while (i < to && bytes[i] != separator) {
      i++;
    }
    return i;
  }

  /** Returns the index of the first byte from {@code from} on that is neither space nor tab, or {@code to}. */
  public static int skipBlanks(byte[] bytes, int from, int to) {
    int i = from;
    while (i < to && (bytes[i] == ' ' || bytes[i] == '\t')) {
      i++;
    }
    return i;
  }

  /** Returns the index of the first space or tab from {@code from} on, or {@code to}. */
  public static int endOfToken(byte[] bytes, int from, int to) {
    int i = from;
    while (i < to && bytes[i] != ' ' && bytes[i] != '\t') {
      i++;
    }
    return i;
  }

  /**
   * Parses a decimal number with or without sign, fraction and exponent. Returns the same float as
   * {@link Float#parseFloat}; NaN if it is no number or not finite. Numbers of few digits are exact after one division
   * (Clinger, "How to Read Floating Point Numbers Accurately", 1990); for the others it calls {@code parseFloat}.
   */
  public static float number(byte[] bytes, int from, int to) {
    int i = from;
    boolean negative = i < to && bytes[i] == '-';
    if (i < to && (negative || bytes[i] == '+')) {
      i++;
    }
    long mantissa = 0;
    int digits = 0;
    int fraction = 0;
    boolean point = false;
    for (; i < to; i++) {
      int digit = bytes[i] - '0';
      if (digit >= 0 && digit <= 9) {
        mantissa = 10 * mantissa + digit;
        digits++;
        fraction += point ? 1 : 0;
      } else if (bytes[i] == '.' && !point) {
        point = true;
      } else {
        break;
      }
    }
    if (i < to || digits == 0 || digits > MANTISSA_DIGITS_MAX) {
      return parseSlowly(bytes, from, to);
    }
    if (mantissa <= FLOAT_MANTISSA_MAX && fraction < FLOAT_POWERS.length) {
      float value = mantissa / FLOAT_POWERS[fraction];
      return negative ? -value : value;
    }
    if (mantissa <= DOUBLE_MANTISSA_MAX && fraction < DOUBLE_POWERS.length) {
      double value = mantissa / DOUBLE_POWERS[fraction];
      if ((Double.doubleToRawLongBits(value) & HALF_BITS) != HALF_WAY && value > SMALL) {
        return (float) (negative ? -value : value);
      }
    }
    return parseSlowly(bytes, from, to);
  }

  /** Parses a number with an exponent or many digits; NaN if it is no number. */
  private static float parseSlowly(byte[] bytes, int from, int to) {
    for (int i = from; i < to; i++) {
      byte b = bytes[i];
      if (!(b >= '0' && b <= '9') && b != '.' && b != '-' && b != '+' && b != 'e' && b != 'E') {
        return Float.NaN; // parseFloat also accepts white space around a number, NaN, hexadecimal and a final d or f
      }
    }
    try {
      float parsed = Float.parseFloat(new String(bytes, from, to - from, StandardCharsets.US_ASCII));
      return Float.isInfinite(parsed) ? Float.NaN : parsed;
    } catch (NumberFormatException e) {
      return Float.NaN;
    }
  }

  /** Returns true if {@code bytes[from..to)} is a whole number from 0 to 2⁶⁴ − 1 in decimal digits. */
  public static boolean isId(byte[] bytes, int from, int to) {
    int length = to - from;
    if (length < 1 || length > 20) {
      return false;
    }
    for (int i = from; i < to; i++) {
      if (bytes[i] < '0' || bytes[i] > '9') {
        return false;
      }
    }
    return length < 20 || new String(bytes, from, length, StandardCharsets.US_ASCII).compareTo("18446744073709551615") <= 0;
  }

  /** Returns the number that {@link #isId} has accepted, as 64 bits without a sign. */
  public static long id(byte[] bytes, int from, int to) {
    long id = 0;
    for (int i = from; i < to; i++) {
      id = 10 * id + bytes[i] - '0';
    }
    return id;
  }
}
