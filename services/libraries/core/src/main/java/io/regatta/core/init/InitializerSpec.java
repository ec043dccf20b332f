package io.regatta.core.init;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import java.util.Arrays;
import java.util.Locale;
import java.util.Objects;

/**
 * The initializer of sparse rows: a pure function of (seed, table, id, dim). The values thus do not depend on the
 * number of shards, on the order of arrival, or on which trainer asks first. Any thread.
 *
 * <p>It is counter-based: element i of a row is made from the i-th word of the row's own SplitMix64 stream. The key of
 * the stream is the mixed (seed, table, id); nothing is carried from element to element or row to row. The idea is that
 * of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011. A longer row begins with the values of a
 * shorter one.
 *
 * @param kind distribution
 * @param a lower bound of {@code UNIFORM}, mean of {@code NORMAL}, value of {@code CONSTANT}
 * @param b upper bound of {@code UNIFORM}, standard deviation of {@code NORMAL}
 */
public record InitializerSpec(Kind kind, float a, float b) {

  /** Distributions. Names as in the configuration, lower case there. */
  public enum Kind { CONSTANT, UNIFORM, NORMAL }

  private static final double TWO_TO_MINUS_53 = 0x1p-53;

  public InitializerSpec {
    Objects.requireNonNull(kind, "kind");
    if (!Float.isFinite(a) || !Float.isFinite(b)) {
      throw new InvalidInput("initializer " + kind.name().toLowerCase(Locale.ROOT) + " has parameters " + a + ", " + b
          + ": they must be finite");
    }
    if (kind == Kind.UNIFORM && a > b) {
      throw new InvalidInput("initializer uniform has lower bound " + a + " above upper bound " + b + ": swap them");
    }
    if (kind == Kind.NORMAL && b < 0) {
      throw new InvalidInput("initializer normal has standard deviation " + b + ": it must be 0 or more");
    }
  }

  /** Returns the same initializer with 0 for a parameter that its kind does not use. */
  public InitializerSpec used() {
    return kind == Kind.CONSTANT ? new InitializerSpec(kind, a, 0) : this;
  }

  public static InitializerSpec zeros() {
    return new InitializerSpec(Kind.CONSTANT, 0, 0);
  }

  /** Returns a uniform distribution between low and high (high itself can only occur by rounding to float). */
  public static InitializerSpec uniform(float low, float high) {
    return new InitializerSpec(Kind.UNIFORM, low, high);
  }

  public static InitializerSpec normal(float mean, float deviation) {
    return new InitializerSpec(Kind.NORMAL, mean, deviation);
  }

  /** Fills {@code out[off .. off+dim)} with the row of this id. */
  public void fill(long seed, String table, long id, float[] out, int off, int dim) {
    fill(tableKey(seed, table), id, out, off, dim);
  }

  /**
   * Fills as {@link #fill(long, String, long, float[], int, int)} does, with the {@link #tableKey} computed once for
   * many rows.
   */
  public void fill(long tableKey, long id, float[] out, int off, int dim) {
    long key = Mix64.mix(tableKey + Mix64.GOLDEN * id);
    switch (kind) {
      case CONSTANT -> Arrays.fill(out, off, off + dim, a);
      case UNIFORM -> fillUniform(key, out, off, dim);
      case NORMAL -> fillNormal(key, out, off, dim);
    }
  }

  /** Returns the key that the rows of a table have in common. */
  public static long tableKey(long seed, String table) {
    return Mix64.mix(Mix64.mix(seed) + Mix64.text(table));
  }

  private void fillUniform(long key, float[] out, int off, int dim) {
    double width = (double) b - a;
    for (int i = 0; i < dim; i++) {
      out[off + i] = (float) (a + width * unit(key, i));
    }
  }

  /**
   * Fills by Box and Muller ("A note on the generation of random normal deviates", 1958): words 2k and 2k+1 give
   * elements 2k (cosine) and 2k+1 (sine). StrictMath, because the bits must be the same on every machine.
   */
  private void fillNormal(long key, float[] out, int off, int dim) {
    for (int i = 0; i < dim; i += 2) {
      double radius = b * Math.sqrt(-2 * StrictMath.log(1 - unit(key, i))); // 1 - u is in (0, 1]
      double angle = 2 * Math.PI * unit(key, i + 1);
      out[off + i] = (float) (a + radius * StrictMath.cos(angle));
      if (i + 1 < dim) {
        out[off + i + 1] = (float) (a + radius * StrictMath.sin(angle));
      }
    }
  }

  /** Returns word i of the row's stream as a number in [0, 1) with 53 bits. */
  private static double unit(long key, int i) {
    return (Mix64.mix(key + Mix64.GOLDEN * (i + 1L)) >>> 11) * TWO_TO_MINUS_53;
  }
}
