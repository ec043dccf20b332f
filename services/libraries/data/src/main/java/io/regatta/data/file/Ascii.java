package io.regatta.data.file;

import io.regatta.core.text.Decimal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** A parser of numbers and separators in bytes of text, without creating strings. Stateless; any thread may use it. */
public final class Ascii {

  private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long LOW_BITS = 0x7F7F7F7F7F7F7F7FL;
  /** Bits of a double that do not fit into a float; the second pattern of them is half way between two floats. */
  private static final long HALF_BITS = 0x1FFFFFFFL;
  private static final long HALF_WAY = 0x10000000L;
  private static final double SMALL = 1e-37;

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
   * {@link Float#parseFloat}; NaN if it is no number or not finite. It rounds the double of {@link Decimal#parse}, and
   * calls {@code parseFloat} where rounding twice could give another float.
   */
  public static float number(byte[] bytes, int from, int to) {
    double value = Decimal.parse(bytes, from, to);
    if ((Double.doubleToRawLongBits(value) & HALF_BITS) == HALF_WAY || Math.abs(value) < SMALL && value != 0) {
      return parseSlowly(bytes, from, to);
    }
    float rounded = (float) value;
    return Float.isInfinite(rounded) ? Float.NaN : rounded;
  }

  /** Parses a number that {@link Decimal#parse} has accepted. */
  private static float parseSlowly(byte[] bytes, int from, int to) {
    float parsed = Float.parseFloat(new String(bytes, from, to - from, StandardCharsets.US_ASCII));
    return Float.isInfinite(parsed) ? Float.NaN : parsed;
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
