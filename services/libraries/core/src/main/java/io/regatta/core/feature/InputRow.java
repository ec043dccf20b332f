package io.regatta.core.feature;

import java.util.Arrays;
import java.util.List;

/** A row of a table before any transformation: one value per column. Mutable and reused; one thread. */
public final class InputRow {

  /** The type of a value. */
  public enum Type {
    MISSING,
    TEXT,
    NUMBER,
    WHOLE,
    /** A list of texts. */
    TEXTS
  }

  private final Type[] types;
  private final byte[][] bytes;
  private final int[] from;
  private final int[] to;
  private final double[] numbers;
  private final long[] wholes;
  private final List<byte[]>[] lists;

  /** Creates a row whose values are missing. */
  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of lists
  public InputRow(int columns) {
    types = new Type[columns];
    bytes = new byte[columns][];
    from = new int[columns];
    to = new int[columns];
    numbers = new double[columns];
    wholes = new long[columns];
    lists = new List[columns];
    clear();
  }

  /** Makes all values missing. */
  public void clear() {
    Arrays.fill(types, Type.MISSING);
  }

  /**
   * Sets a value to {@code utf8[from..to)}, which must not change while the row is used. Blanks at both ends are cut; a
   * text without other characters is missing.
   */
  public void text(int column, byte[] utf8, int from, int to) {
    int first = from;
    int end = to;
    while (first < end && isBlank(utf8[first])) {
      first++;
    }
    while (end > first && isBlank(utf8[end - 1])) {
      end--;
    }
    types[column] = first == end ? Type.MISSING : Type.TEXT;
    bytes[column] = utf8;
    this.from[column] = first;
    this.to[column] = end;
  }

  static boolean isBlank(byte b) {
    return b == ' ' || b >= '\t' && b <= '\r';
  }

  /** Sets a value to a number; NaN is missing. */
  public void number(int column, double value) {
    types[column] = Double.isNaN(value) ? Type.MISSING : Type.NUMBER;
    numbers[column] = value;
  }

  /** Sets a value to a whole number. */
  public void whole(int column, long value) {
    types[column] = Type.WHOLE;
    wholes[column] = value;
  }

  /** Sets a value to a list of texts; an empty list is missing. */
  public void texts(int column, List<byte[]> values) {
    types[column] = values.isEmpty() ? Type.MISSING : Type.TEXTS;
    lists[column] = values;
  }

  public Type type(int column) {
    return types[column];
  }

  /** Returns the array that holds the text of a column. */
  public byte[] bytes(int column) {
    return bytes[column];
  }

  /** Returns the index of the first byte of the text. */
  public int from(int column) {
    return from[column];
  }

  /** Returns the index after the last byte of the text. */
  public int to(int column) {
    return to[column];
  }

  public double number(int column) {
    return numbers[column];
  }

  public long whole(int column) {
    return wholes[column];
  }

  public List<byte[]> texts(int column) {
    return lists[column];
  }
}
