package io.regatta.data;

import java.util.List;

/** How the workers of a job give each other examples. One per worker, used on its model thread. */
public interface ExampleExchange {

  /** This worker's number. */
  int worker();

  /** Number of workers. */
  int workers();

  /**
   * Gives every worker its examples and waits for those of all others; all workers must call it.
   *
   * @param layout of all examples, the same everywhere
   * @param outgoing parts by worker, this one's own too; they belong to the exchange afterwards
   * @return parts by the worker that they came from, in the order in which it gave them
   * @throws io.regatta.core.error.RegattaException.PeerLost if a worker is lost on the way: nobody has the examples then
   */
  List<List<SlotBatch>> exchange(Layout layout, List<List<SlotBatch>> outgoing);
}
