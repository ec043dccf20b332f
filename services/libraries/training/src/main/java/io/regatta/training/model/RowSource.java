package io.regatta.training.model;

/**
 * A source of rows for a {@link DistributedEmbedding}: its trainer while one is attached, or anything else for
 * inference, such as the tables of a saved model.
 */
public interface RowSource {

  /**
   * Returns the values of rows.
   *
   * @param table name
   * @param dim values per row
   * @param ids distinct
   * @param training true if the rows are for a training step, whose gradient will follow
   * @return {@code [ids.length × dim]} in the order of {@code ids}
   */
  float[] rows(String table, int dim, long[] ids, boolean training);
}
