package io.regatta.trainer;

import io.regatta.collective.CollectiveOptions;
import io.regatta.node.Node;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.AlgorithmTable;
import io.vertx.core.Future;

/** How a trainer carries out its job's collective calls: what the section {@code collective} says. Stateless. */
final class MeshOptions {

  private MeshOptions() {}

  /** Reads the table of algorithms, once for as long as the trainer is there; completes on the calling context. */
  static Future<CollectiveOptions> read(Node node, StreamOptions streams, JobConfig job) {
    return node.vertx().executeBlocking(() -> of(streams, job));
  }

  /** The same; blocks. */
  static CollectiveOptions of(StreamOptions streams, JobConfig job) {
    return CollectiveOptions.defaults().withStream(streams).withFailureTimeout(job.collective().failureTimeoutMs())
        .withBusyPoll(job.collective().busyPollUs()).withChoices(AlgorithmTable.of(job));
  }
}
