package io.regatta.load.sparse;

/** A trainer of one kind. One thread makes its calls, which block until they are done; ids are distinct. */
interface RowClient extends AutoCloseable {

  /** Fetches the rows of these ids; missing rows are created. Returns them in the ids' order. */
  float[] pull(long[] ids) throws Exception;

  /** Lets the server apply Adagrad to these rows. */
  void push(long[] ids, float[] gradients) throws Exception;

  @Override
  void close();
}
