package io.regatta.core.hash;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The hash function XXH64 (Collet, <a href="https://github.com/Cyan4973/xxHash">xxHash</a>) of bytes. Programs in other
 * languages compute the same ids with it. Stateless and allocation-free; any thread.
 */
public final class XxHash64 {

  private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long PRIME_1 = 0x9E3779B185EBCA87L;
  private static final long PRIME_2 = 0xC2B2AE3D27D4EB4FL;
  private static final long PRIME_3 = 0x165667B19E3779F9L;
  private static final long PRIME_4 = 0x85EBCA77C2B2AE63L;
  private static final long PRIME_5 = 0x27D4EB2F165667C5L;
  private static final int STRIPE = 4 * Long.BYTES;

  private XxHash64() {}

  /** Returns the hash of {@code bytes[from..to)}. */
  public static long of(byte[] bytes, int from, int to, long seed) {
    int i = from;
    long h;
    if (to - from >= STRIPE) {
      long a = seed + PRIME_1 + PRIME_2;
      long b = seed + PRIME_2;
      long c = seed;
      long d = seed - PRIME_1;
      for (; i <= to - STRIPE; i += STRIPE) {
        a = round(a, (long) LONGS.get(bytes, i));
        b = round(b, (long) LONGS.get(bytes, i + Long.BYTES));
        c = round(c, (long) LONGS.get(bytes, i + 2 * Long.BYTES));
        d = round(d, (long) LONGS.get(bytes, i + 3 * Long.BYTES));
      }
      h = Long.rotateLeft(a, 1) + Long.rotateLeft(b, 7) + Long.rotateLeft(c, 12) + Long.rotateLeft(d, 18);
      h = merge(merge(merge(merge(h, a), b), c), d);
    } else {
      h = seed + PRIME_5;
    }
    h += to - from;
    for (; i <= to - Long.BYTES; i += Long.BYTES) {
      h = Long.rotateLeft(h ^ round(0, (long) LONGS.get(bytes, i)), 27) * PRIME_1 + PRIME_4;
    }
    if (i <= to - Integer.BYTES) {
      h = Long.rotateLeft(h ^ ((int) INTS.get(bytes, i) & 0xFFFFFFFFL) * PRIME_1, 23) * PRIME_2 + PRIME_3;
      i += Integer.BYTES;
    }
    for (; i < to; i++) {
      h = Long.rotateLeft(h ^ (bytes[i] & 0xFF) * PRIME_5, 11) * PRIME_1;
    }
    h = (h ^ h >>> 33) * PRIME_2;
    h = (h ^ h >>> 29) * PRIME_3;
    return h ^ h >>> 32;
  }

  private static long round(long sum, long word) {
    return Long.rotateLeft(sum + word * PRIME_2, 31) * PRIME_1;
  }

  private static long merge(long hash, long sum) {
    return (hash ^ round(0, sum)) * PRIME_1 + PRIME_4;
  }
}
