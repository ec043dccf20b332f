package io.regatta.load.sparse;

/** A trainer of one kind. Its calls are made by one thread and block it until they are done; ids are distinct. */
interface RowClient extends AutoCloseable {

  /** Fetches the rows of these ids; those that do not exist are born. Returns them in the ids' order. */
  float[] pull(long[] ids) throws Exception;

  /** Has the server apply Adagrad to these rows. */
  void push(long[] ids, float[] gradients) throws Exception;

  @Override
  void close();
}
