package io.regatta.core.collective.compress;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.FloatBuffer;

/**
 * The coding of elements of a vector as (index, value), each in the 64 bits of a counter, which the wire carries
 * unchanged. The index is in the upper half, the float's bits are in the lower. Pure functions.
 */
public final class SparsePairs {

  private static final long LOWER = 0xffff_ffffL;

  private SparsePairs() {}

  public static long pair(int index, float value) {
    return (long) index << Integer.SIZE | Float.floatToRawIntBits(value) & LOWER;
  }

  public static int index(long pair) {
    return (int) (pair >>> Integer.SIZE);
  }

  public static float value(long pair) {
    return Float.intBitsToFloat((int) pair);
  }

  /**
   * Adds the pairs to the elements {@code [from .. to)} of a vector, one after another: ranks that add the same pairs
   * in the same order have the same bits.
   *
   * @return whether all elements that it has changed are finite
   * @throws InvalidInput if an index is outside: a rank that makes other steps than this one
   */
  public static boolean addTo(FloatBuffer floats, int from, int to, long[] pairs) {
    boolean finite = true;
    for (long pair : pairs) {
      int index = index(pair);
      if (index < from || index >= to) {
        throw new InvalidInput("a rank has sent element " + index + " in a bucket of the elements " + from + " to "
            + (to - 1) + "; start all trainers with the same program and job");
      }
      float sum = floats.get(index) + value(pair);
      finite &= Float.isFinite(sum);
      floats.put(index, sum);
    }
    return finite;
  }
}
