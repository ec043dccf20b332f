package io.regatta.collective;

import io.regatta.collective.join.StoreRendezvous;
import io.regatta.collective.join.Timing;
import io.regatta.collective.store.FileStore;
import io.regatta.collective.store.Store;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.node.admin.Waits;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;

/** The example of the public API in docs/algorithms.md; {@link CollectivesExampleTest} runs it and compares the two. */
final class CollectivesExample {

  private CollectivesExample() {}

  // example begins
  /**
   * Averages over all processes, which find each other through a shared directory; the result is in values when the
   * future completes.
   */
  static Future<float[]> mean(Vertx vertx, Path meeting, int processes, String host, CollectiveOptions options,
      float[] values) {
    Waits waits = new Waits();
    Store store = new FileStore(vertx, meeting);
    Rendezvous rendezvous = new StoreRendezvous(vertx, store.under("means"), Timing.defaults(), waits);
    return CollectivePort.listen(vertx, host, options, waits).compose(port -> rendezvous
        .join(Joining.fixed("means", processes, -1, "process on " + host, port.endpoint(), Duration.ofMinutes(1)))
        .compose(seat -> port.form(seat.membership())
            .compose(ranks -> ranks.allReduce(Tensor.of(values), ReduceOp.MEAN).eventually(ranks::close))
            .eventually(() -> seat.leave()))
        .eventually(port::close))
        .eventually(store::close).map(values);
  }
  // example ends
}
