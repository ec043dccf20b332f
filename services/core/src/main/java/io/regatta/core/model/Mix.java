package io.regatta.core.model;

/** 64-bit mixing: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014; variant 13 of Stafford). */
public final class Mix {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private Mix() {}

  /** A bijection of 64 bits in which every input bit moves about half of the output bits. */
  public static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }

  /** Mixes a second value into the first; not symmetric. */
  public static long mix(long a, long b) {
    return mix(mix(a + GOLDEN) + b * GOLDEN + 1);
  }

  /** Hash of a name: its UTF-16 units, one after another. Stable across processes, unlike an identity hash. */
  public static long hash(String name) {
    long h = name.length();
    for (int i = 0; i < name.length(); i++) {
      h = mix(h, name.charAt(i));
    }
    return h;
  }
}
