package io.regatta.core.exchange;

/**
 * Rows of one sparse table: gradients, deltas or values. Ids are distinct within one message.
 *
 * @param table name
 * @param ids n distinct ids
 * @param values n × dim floats, row-major
 * @param counts how many of a row's floats, the last ones, are counts (shows, clicks): where gradients are averaged, or
 *     scaled, these are summed, and stay as they are
 */
public record SparseRows(String table, long[] ids, float[] values, int counts) {

  /** Creates rows without counts. */
  public SparseRows(String table, long[] ids, float[] values) {
    this(table, ids, values, 0);
  }

  /** Returns the number of floats of a row; 0 if there is none. */
  public int dim() {
    return ids.length == 0 ? 0 : values.length / ids.length;
  }
}
