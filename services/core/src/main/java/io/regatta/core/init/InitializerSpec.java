package io.regatta.core.init;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.Mix;
import java.util.Arrays;

/**
 * How a sparse row is born: a pure function of (seed, table, id, dim), so the result does not depend on the number of
 * shards, on the order of arrival or on who asks first.
 *
 * @param kind distribution
 * @param a lower bound of {@code UNIFORM}, mean of {@code NORMAL}, value of {@code CONSTANT}
 * @param b upper bound of {@code UNIFORM}, standard deviation of {@code NORMAL}
 */
public record InitializerSpec(Kind kind, float a, float b) {

  /** Distributions. Names as in the configuration, lower case there. */
  public enum Kind { CONSTANT, UNIFORM, NORMAL }

  public InitializerSpec {
    if (!Float.isFinite(a) || !Float.isFinite(b) || kind == Kind.UNIFORM && b < a || kind == Kind.NORMAL && b < 0) {
      throw new InvalidInput("a " + kind.name().toLowerCase(java.util.Locale.ROOT) + " initializer cannot have the bounds "
          + a + " and " + b);
    }
  }

  /** All zeros. */
  public static InitializerSpec zeros() {
    return new InitializerSpec(Kind.CONSTANT, 0, 0);
  }

  public static InitializerSpec uniform(float low, float high) {
    return new InitializerSpec(Kind.UNIFORM, low, high);
  }

  public static InitializerSpec normal(float mean, float deviation) {
    return new InitializerSpec(Kind.NORMAL, mean, deviation);
  }

  /**
   * Fills {@code out[off .. off+dim)} with the row of this id. Values are counter-based: element i comes from the hash
   * of (seed, table, id, i) alone; normal ones by Box and Muller (1958), in strict arithmetic, so that every machine
   * gives the same bits.
   */
  public void fill(long seed, String table, long id, float[] out, int off, int dim) {
    if (kind == Kind.CONSTANT) {
      Arrays.fill(out, off, off + dim, a);
      return;
    }
    long row = Mix.mix(Mix.mix(seed, Mix.hash(table)), id);
    for (int i = 0; i < dim; i++) {
      double u = unit(Mix.mix(row, 2L * i));
      double x = kind == Kind.UNIFORM ? a + (double) (b - a) * u
          : a + b * Math.sqrt(-2 * StrictMath.log(1 - u)) * StrictMath.cos(2 * Math.PI * unit(Mix.mix(row, 2L * i + 1)));
      out[off + i] = (float) x;
    }
  }

  /** 53 random bits as a double in [0, 1). */
  private static double unit(long bits) {
    return (bits >>> 11) * 0x1.0p-53;
  }
}
