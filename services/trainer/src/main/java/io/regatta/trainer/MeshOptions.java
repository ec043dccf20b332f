package io.regatta.trainer;

import io.regatta.collective.CollectiveOptions;
import io.regatta.node.Node;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.AlgorithmTable;
import io.vertx.core.Future;

/** The options of a trainer's collective calls, from the section {@code collective}. Stateless. */
final class MeshOptions {

  private MeshOptions() {}

  /** Reads the table of algorithms, once in a trainer's lifetime; completes on the calling context. */
  static Future<CollectiveOptions> read(Node node, StreamOptions streams, JobConfig job) {
    return node.vertx().executeBlocking(() -> of(streams, job));
  }

  /** Reads the table of algorithms; blocks. */
  static CollectiveOptions of(StreamOptions streams, JobConfig job) {
    return CollectiveOptions.defaults().withStream(streams)
        .withFailureTimeoutMillis(job.collective().failureTimeoutMs())
        .withBusyPollMicros(job.collective().busyPollUs()).withChoices(AlgorithmTable.of(job));
  }
}
