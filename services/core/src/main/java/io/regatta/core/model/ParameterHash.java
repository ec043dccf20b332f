package io.regatta.core.model;

import io.regatta.core.hash.Mix64;

/**
 * Fingerprint of parameters: the sum (mod 2^64) of one mixed hash per element, over (kind and name of the variable or
 * table, index or id and position, raw float bits). Addition commutes, so the total depends neither on the number of
 * shards nor on the order of parts and rows; shards add their parts up and the parts add up to the job's hash. Two
 * sets of parameters with the same hash are the same bit for bit, but for an accident of probability 2^-64: it guards
 * against drift, not against an adversary. Pure functions, any thread.
 */
public final class ParameterHash {

  /** Keeps a variable and a table of the same name apart. */
  private static final long DENSE = 0x64656e7365L;
  private static final long ROW = 0x726f77L;

  private ParameterHash() {}

  /**
   * Hash of {@code v[off .. off+n)}, which are the elements {@code variableOffset ..} of a dense variable.
   *
   * @param variableOffset index of {@code v[off]} within its variable, row-major
   */
  public static long dense(String variable, int variableOffset, float[] v, int off, int n) {
    return elements(Mix64.mix(Mix64.text(variable) ^ DENSE), variableOffset, v, off, n);
  }

  /** Hash of the values {@code v[off .. off+dim)} of one row of a sparse table; optimizer slots are not part of it. */
  public static long row(String table, long id, float[] v, int off, int dim) {
    return row(tableKey(table), id, v, off, dim);
  }

  /** As {@link #row(String, long, float[], int, int)}, with the {@link #tableKey} made once for many rows. */
  public static long row(long tableKey, long id, float[] v, int off, int dim) {
    return elements(Mix64.mix(tableKey + Mix64.GOLDEN * id), 0, v, off, dim);
  }

  /** What the hashes of a table's rows have in common. */
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
