package io.regatta.heterworker;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectiveRank;
import io.regatta.collective.Collectives;
import io.regatta.collective.Membership;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Loop;
import io.regatta.heterworker.dense.GradientSums;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.address.HostPort;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import java.util.List;

/**
 * A heter worker as a rank of the job's heter workers, by its index, for collective calls among them. Streams come in
 * at the port of the service. Owned by the verticle's event loop.
 */
final class WorkerGroup {

  private final Node node;
  private final JobConfig job;
  private final int index;
  private final CollectiveRank rank;

  /**
   * Creates a rank that has not met the others.
   *
   * @param port at which the others reach it
   */
  WorkerGroup(Node node, Loop loop, JobConfig job, int index, int port, StreamOptions streams) {
    this.node = node;
    this.job = job;
    this.index = index;
    CollectiveOptions options = CollectiveOptions.defaults().withStream(streams)
        .withFailureTimeoutMillis(job.collective().failureTimeoutMs())
        .withStartTimeoutMillis(node.config().readyTimeout().toMillis());
    rank = new CollectiveRank(loop, node.host(), new VertxNetwork(node.vertx(), options.stream()), options,
        node.waits());
    rank.listens(new HostPort(node.host(), port).toString());
  }

  /** Takes a stream over that another heter worker has opened. */
  void accept(TensorStream stream) {
    rank.accept(stream);
  }

  /** Waits for the other heter workers of the job; completes with the all-reduce among them. */
  Future<GradientSums.AllReduce> meet() {
    int workers = job.heter().workers();
    if (index >= workers) {
      return Future.failedFuture(new InvalidInput("heter worker " + index + " is not one of the " + workers
          + " of job " + job.job() + " that add up their gradients; start as many as heter.workers"));
    }
    return node.directory().await(Directory.HETER_WORKER, workers, node.config().readyTimeout(), "heter worker "
        + index)
        .compose(all -> rank.form(membership(all.subList(0, workers))))
        .map(formed -> values -> sum(formed, values));
  }

  /** Returns the place among these heter workers; a later start of any of them makes another generation. */
  private Membership membership(List<Directory.Instance> all) {
    long generation = all.stream().mapToLong(Directory.Instance::incarnation).max().orElse(0);
    return new Membership(job.job() + "/heter", generation, index, all.stream().map(Directory.Instance::endpoint)
        .toList());
  }

  private static Future<Void> sum(Collectives formed, float[] values) {
    return formed.allReduce(Tensor.of(values), ReduceOp.SUM);
  }

  Future<Void> close() {
    return rank.close();
  }
}
