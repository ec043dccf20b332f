package io.regatta.core.shard;

/** Finds NaN and infinite elements. */
final class NonFinite {

  private static final int INFINITY_BITS = 0x7F80_0000;

  private NonFinite() {}

  /** Index of the first NaN or infinite element, or -1. The common case is one branch-free pass. */
  static int find(float[] v) {
    int max = 0;
    for (float x : v) {
      max = Math.max(max, Float.floatToRawIntBits(x) & 0x7FFF_FFFF);
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
