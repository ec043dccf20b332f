package io.regatta.core.dense;

/** Finds NaN and infinite elements. */
public final class NonFinite {

  private static final int INFINITY_BITS = 0x7F80_0000;

  private NonFinite() {}

  /** Index of the first NaN or infinite element, or -1. */
  public static int find(float[] v) {
    return find(v, v.length);
  }

  /** The same among the first {@code n} elements. The common case is one branch-free pass. */
  public static int find(float[] v, int n) {
    int max = 0;
    for (int i = 0; i < n; i++) {
      max = Math.max(max, Float.floatToRawIntBits(v[i]) & 0x7FFF_FFFF);
    }
    if (max < INFINITY_BITS) {
      return -1;
    }
    int i = 0;
    while (Float.isFinite(v[i])) {
      i++;
    }
    return i;
  }
}
