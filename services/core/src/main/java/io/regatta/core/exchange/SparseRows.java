package io.regatta.core.exchange;

/**
 * Rows of one sparse table: gradients, deltas or values. Ids are distinct within one message.
 *
 * @param table name
 * @param ids n distinct ids
 * @param values n × dim floats, row-major
 */
public record SparseRows(String table, long[] ids, float[] values) {

  /** Floats of a row; 0 if there is none. */
  public int dim() {
    return ids.length == 0 ? 0 : values.length / ids.length;
  }
}
