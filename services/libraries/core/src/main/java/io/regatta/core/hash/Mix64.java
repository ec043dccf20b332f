package io.regatta.core.hash;

/**
 * The only integer hash of Regatta: stateless, the same on every machine and in every release, because initial values,
 * shard ownership and parameter digests depend on it. Any thread.
 */
public final class Mix64 {

  /** Odd 64-bit number nearest 2^64 divided by the golden ratio: the step between counters of one stream. */
  public static final long GOLDEN = 0x9e3779b97f4a7c15L;

  private Mix64() {}

  /**
   * Returns a bijection of 64-bit words in which every input bit flips every output bit with probability close to one
   * half. It is the output function of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
   * generators", 2014). Its constants are those of Stafford's variant 13 of MurmurHash3's finalizer.
   */
  public static long mix(long z) {
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Returns the hash of a text's UTF-16 units, mixed one after another after its length. Allocation-free. */
  public static long text(CharSequence text) {
    int n = text.length();
    long h = mix(GOLDEN + n);
    for (int i = 0; i < n; i++) {
      h = mix(h + GOLDEN * (text.charAt(i) + 1));
    }
    return h;
  }
}
