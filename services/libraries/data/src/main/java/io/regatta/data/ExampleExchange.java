package io.regatta.data;

import java.util.List;

/** An all-to-all exchange of examples among the workers of a job. There is one per worker, used on its model thread. */
public interface ExampleExchange {

  /** Returns this worker's number. */
  int worker();

  /** Returns the number of workers. */
  int workers();

  /**
   * Sends every worker its examples and waits for those of all others. All workers must call it.
   *
   * @param layout of all examples, the same on all workers
   * @param outgoing batches by receiving worker, this one included; the exchange owns them afterwards
   * @return batches by sending worker, in the order in which it sent them
   * @throws io.regatta.core.error.RegattaException.PeerLost if a worker is lost during the exchange: then no worker has
   *     the examples
   */
  List<List<SlotBatch>> exchange(Layout layout, List<List<SlotBatch>> outgoing);
}
