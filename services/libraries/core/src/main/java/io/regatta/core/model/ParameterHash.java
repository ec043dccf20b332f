package io.regatta.core.model;

import io.regatta.core.hash.Mix64;

/**
 * A fingerprint of parameters: the sum (mod 2^64) of one mixed hash per element. Pure functions, any thread. The hash
 * is over kind and name of the variable or table, index or id and position, and the raw float bits. Addition commutes,
 * so the total depends neither on the number of shards nor on the order of parts and rows. The sums of the shards add
 * up to the job's hash. Two sets of parameters with the same hash are the same bit for bit, except with a probability
 * of 2^-64. It protects against drift, not against an adversary.
 */
public final class ParameterHash {

  /** Distinguishes a variable from a table of the same name. */
  private static final long DENSE = 0x64656e7365L;
  private static final long ROW = 0x726f77L;

  private ParameterHash() {}

  /**
   * Returns the hash of {@code v[off .. off+n)}, which are the elements {@code variableOffset ..} of a dense variable.
   *
   * @param variableOffset index of {@code v[off]} within its variable, row-major
   */
  public static long dense(String variable, int variableOffset, float[] v, int off, int n) {
    return elements(Mix64.mix(Mix64.text(variable) ^ DENSE), variableOffset, v, off, n);
  }

  /**
   * Returns the hash of the values {@code v[off .. off+dim)} of one row of a sparse table; optimizer slots are not part
   * of it.
   */
  public static long row(String table, long id, float[] v, int off, int dim) {
    return row(tableKey(table), id, v, off, dim);
  }

  /**
   * Returns the hash as {@link #row(String, long, float[], int, int)} does, with the {@link #tableKey} computed once
   * for many rows.
   */
  public static long row(long tableKey, long id, float[] v, int off, int dim) {
    return elements(Mix64.mix(tableKey + Mix64.GOLDEN * id), 0, v, off, dim);
  }

  /** Returns the key that the hashes of a table's rows have in common. */
  public static long tableKey(String table) {
    return Mix64.mix(Mix64.text(table) ^ ROW);
  }

  private static long elements(long key, int firstIndex, float[] v, int off, int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
      long element = (long) (firstIndex + i) << 32 | Float.floatToRawIntBits(v[off + i]) & 0xffff_ffffL;
      sum += Mix64.mix(key + element);
    }
    return sum;
  }
}
