package io.regatta.core.dense;

import java.util.Arrays;

/**
 * A search for NaN and infinite elements. Stateless. x · 0 is NaN for just these; the products are compared with zeros
 * by {@link Arrays#mismatch}. Both loops are vectorized; a maximum or a sum over the elements is not, and took a third
 * of the time of an SGD update. A long vector is read in strips that stay in the first-level cache, whose products are
 * added up in one strip of marks. A sum with NaN stays NaN, so the marks are compared once.
 */
public final class NonFinite {

  /** Number of elements in a strip. */
  private static final int STRIP = 2048;
  private static final float[] ZEROS = new float[DenseValues.BLOCK];

  /** A source of parts of a long vector, by index. */
  interface Source {
    /** Copies {@code n} elements. */
    void read(int from, float[] to, int n);
  }

  private NonFinite() {}

  /** Returns the index of the first NaN or infinite element, or -1. */
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

  /** Returns true if all elements of a vector are finite. */
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

  /** Returns marks for {@link #mark} of up to {@code n} elements at a time, none set. */
  public static float[] marks(int n) {
    return new float[Math.min(n, ZEROS.length)];
  }

  /** Returns true if no mark is set. */
  public static boolean isClear(float[] marks) {
    return Arrays.mismatch(marks, 0, marks.length, ZEROS, 0, marks.length) < 0;
  }

  /**
   * Sets a mark, for good, if one of the first {@code n} elements is not finite. Both arrays are read from index 0:
   * with any other index the loop is not vectorized.
   *
   * @param n at most the length of the marks
   */
  public static void mark(float[] v, int n, float[] marks) {
    for (int i = 0; i < n; i++) {
      marks[i] += v[i] * 0f;
    }
  }

  /**
   * Returns the index of the first NaN or infinite element among the first {@code n}, at most a block of them, or -1.
   *
   * @param marks {@code n} elements or more, which are overwritten
   */
  public static int find(float[] v, int n, float[] marks) {
    return find(v, 0, n, marks);
  }

  /**
   * Returns the index in {@code v} of the first NaN or infinite element of {@code n} from {@code from}, at most a block
   * of them, or -1.
   */
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

  /**
   * Computes the marks. It is a separate method with arrays from index 0: otherwise the loop is not vectorized where it
   * is inlined.
   */
  private static void products(float[] v, int n, float[] marks) {
    for (int i = 0; i < n; i++) {
      marks[i] = v[i] * 0f + 0f; // + 0 turns -0 into 0
    }
  }
}
