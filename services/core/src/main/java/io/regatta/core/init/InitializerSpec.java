package io.regatta.core.init;

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

  public static InitializerSpec zeros() {
    return new InitializerSpec(Kind.CONSTANT, 0, 0);
  }

  public static InitializerSpec uniform(float low, float high) {
    return new InitializerSpec(Kind.UNIFORM, low, high);
  }

  public static InitializerSpec normal(float mean, float deviation) {
    return new InitializerSpec(Kind.NORMAL, mean, deviation);
  }

  /** Fills {@code out[off .. off+dim)} with the row of this id. */
  public void fill(long seed, String table, long id, float[] out, int off, int dim) {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
