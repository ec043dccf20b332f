package io.regatta.load.dense;

/** One way of moving a dense vector between a trainer and a shard. Closed when its process ends. */
interface Peer extends AutoCloseable {

  /** Serves a vector of its own on a free port of the loopback interface. */
  int serve(DenseTask task) throws Exception;

  /** Connects to a port that this kind serves; in the same process if the kind needs no other. */
  Client connect(int port, DenseTask task) throws Exception;

  @Override
  void close() throws Exception;

  /** A trainer. One thread makes its calls, which block until they are done. */
  interface Client {

    /** Pushes the task's gradient; the shard has applied it when this returns. */
    void push() throws Exception;

    /** Fetches the weights, isolated from later pushes. */
    void pull() throws Exception;

    /** Returns the values of the last pull. */
    float[] values();
  }
}
