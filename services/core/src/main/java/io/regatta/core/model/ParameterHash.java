package io.regatta.core.model;

/**
 * A hash of parameters as a sum of element hashes, so that it does not depend on how the elements are spread over
 * shards or in which order they are visited. Equal bits give equal sums; -0.0 and 0.0 differ.
 */
public final class ParameterHash {

  private ParameterHash() {}

  /** Sum over elements {@code v[off .. off+n)} of a dense variable, the first of which has this offset within it. */
  public static long dense(String variable, int variableOffset, float[] v, int off, int n) {
    long name = Mix.hash(variable);
    long sum = 0;
    for (int i = 0; i < n; i++) {
      sum += Mix.mix(Mix.mix(name, variableOffset + i), Float.floatToRawIntBits(v[off + i]));
    }
    return sum;
  }

  /** Hash of one sparse row {@code v[off .. off+dim)}. */
  public static long row(String table, long id, float[] v, int off, int dim) {
    long h = Mix.mix(Mix.hash(table), id);
    for (int i = 0; i < dim; i++) {
      h = Mix.mix(h, Float.floatToRawIntBits(v[off + i]));
    }
    return h;
  }
}
