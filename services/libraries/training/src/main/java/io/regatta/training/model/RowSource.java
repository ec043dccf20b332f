package io.regatta.training.model;

/**
 * Where a {@link DistributedEmbedding} gets its rows from: its trainer while one is attached, or anything else, such
 * as the tables of a saved model, for inference.
 */
public interface RowSource {

  /**
   * Values of rows.
   *
   * @param table name
   * @param dim values per row
   * @param ids distinct
   * @param training whether the rows are for a training step, whose gradient will follow
   * @return {@code [ids.length × dim]} in the order of {@code ids}
   */
  float[] rows(String table, int dim, long[] ids, boolean training);
}
