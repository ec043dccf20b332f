package io.regatta.core.dense;

import java.util.Arrays;

/**
 * Finds NaN and infinite elements. x · 0 is NaN for just these; the products are compared with zeros by
 * {@link Arrays#mismatch}. Both loops are vectorized, which a maximum or a sum over the elements is not: it took a third of
 * the time of an SGD update. Of a long vector strips that stay in the first-level cache are added up in one strip of such
 * marks, since a sum with NaN stays NaN, and compared once. Stateless.
 */
public final class NonFinite {

  /** Elements of a strip. */
  private static final int STRIP = 2048;
  private static final float[] ZEROS = new float[DenseValues.BLOCK];

  /** A part of a long vector, from an index on. */
  interface Source {
    /** Copies {@code n} elements. */
    void read(int from, float[] to, int n);
  }

  private NonFinite() {}

  /** Index of the first NaN or infinite element, or -1. */
  public static int find(float[] v) {
    if (v.length <= ZEROS.length) {
      return find(v, v.length, new float[v.length]);
    }
    return isFinite(v.length, (from, to, n) -> System.arraycopy(v, from, to, 0, n)) ? -1 : first(v);
  }

  private static int first(float[] v) {
    int i = 0;
    while (Float.isFinite(v[i])) {
      i++;
    }
    return i;
  }

  /** Whether all elements of a vector are finite. */
  static boolean isFinite(int size, Source vector) {
    float[] strip = new float[Math.min(STRIP, size)];
    float[] marks = new float[strip.length];
    for (int from = 0; from < size; from += strip.length) {
      int n = Math.min(strip.length, size - from);
      vector.read(from, strip, n);
      mark(strip, n, marks);
    }
    return isClear(marks);
  }

  /** Marks for {@link #mark} of up to {@code n} elements at a time, none set. */
  public static float[] marks(int n) {
    return new float[Math.min(n, ZEROS.length)];
  }

  /** Whether no mark is set. */
  public static boolean isClear(float[] marks) {
    return Arrays.mismatch(marks, 0, marks.length, ZEROS, 0, marks.length) < 0;
  }

  /**
   * Sets a mark, for good, if one of the first {@code n} elements is not finite. From index 0 on in both: with any other the loop is
   * not vectorized.
   *
   * @param n at most the length of the marks
   */
  public static void mark(float[] v, int n, float[] marks) {
    for (int i = 0; i < n; i++) {
      marks[i] += v[i] * 0f;
    }
  }

  /**
   * The same among the first {@code n} elements, at most a block of them.
   *
   * @param marks {@code n} elements or more, which are overwritten
   */
  public static int find(float[] v, int n, float[] marks) {
    return find(v, 0, n, marks);
  }

  /** The same among the {@code n} elements from index {@code from} on, at most a block of them; the index is that of all. */
  public static int find(float[] v, int from, int n, float[] marks) {
    if (from == 0) {
      products(v, n, marks);
    } else {
      System.arraycopy(v, from, marks, 0, n);
      products(marks, n, marks);
    }
    int bad = Arrays.mismatch(marks, 0, n, ZEROS, 0, n);
    return bad < 0 ? -1 : from + bad;
  }

  /** A method of its own, from index 0 on: with any other the loop is not vectorized, wherever it is compiled into. */
  private static void products(float[] v, int n, float[] marks) {
    for (int i = 0; i < n; i++) {
      marks[i] = v[i] * 0f + 0f; // + 0 turns -0 into 0
    }
  }
}
