package io.regatta.trainer;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.loop.Deadline;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.AggregatedShardLink;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.vertx.LoopFutures;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.trainer.heter.HeterShardLink;
import io.regatta.trainer.heter.HeterWorkers;
import io.regatta.training.config.HeterConfig;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of a trainer to every shard of its job, through its host's aggregator if the job uses it. Owned by
 * {@link TrainerVerticle}, on its event loop.
 */
final class ShardConnections {

  private static final Logger LOG = LoggerFactory.getLogger(ShardConnections.class);
  private static final long RETRY_MILLIS = 200;

  private final Vertx vertx;
  private final Node node;
  private final JobConfig job;
  private final LongSupplier generation;
  private final LongSupplier lastStep;
  private final StreamOptions options;
  private final TensorStreamClient streams;
  /** First streams, opened or not. */
  private final List<RepeatedCall<?>> opening = new ArrayList<>();

  /**
   * Creates connections.
   *
   * @param generation of the group, sent with each request
   * @param lastStep that the trainer has made, for messages; -1 if none
   */
  ShardConnections(Node node, JobConfig job, LongSupplier generation, LongSupplier lastStep, StreamOptions options) {
    this.vertx = node.vertx();
    this.node = node;
    this.job = job;
    this.generation = generation;
    this.lastStep = lastStep;
    this.options = options;
    streams = new TensorStreamClient(vertx, options);
  }

  /** Returns the options of all streams of this trainer. */
  StreamOptions options() {
    return options;
  }

  /** Returns the client of all streams of this trainer. */
  TensorStreamClient streams() {
    return streams;
  }

  /** Opens the links, in shard order. */
  Future<List<ShardLink>> open(ShardFinder.Found found, String who) {
    return opened(links(found, who));
  }

  /** Opens the links, in shard order; this rank's home among the heter workers has its dense values and gradients. */
  Future<List<ShardLink>> open(ShardFinder.Found found, HeterWorkers heter, String who) {
    return opened(heter.home().compose(home ->
        all(found.shards().stream().map(shard -> dense(shard, found, heter, home, who)).toList())));
  }

  private static Future<List<ShardLink>> opened(Future<List<ShardLink>> links) {
    return links.onSuccess(v -> LOG.info("Communicator start")); // PaddlePaddle's words
  }

  private Future<List<ShardLink>> links(ShardFinder.Found found, String who) {
    List<Shard> shards = found.shards();
    if (!job.aggregator()) {
      return all(shards.stream().map(shard -> direct(shard, found, who)).toList());
    }
    Deadline deadline = Deadline.in(node.clock(), node.config().readyTimeout());
    return aggregator(deadline, who).compose(aggregator ->
        all(shards.stream().map(shard -> aggregated(shard, found, aggregator, who)).toList()));
  }

  private static Future<List<ShardLink>> all(List<Future<ShardLink>> links) {
    return Future.all(links).map(done -> new ArrayList<>(done.<ShardLink>list()));
  }

  private Future<ShardLink> direct(Shard shard, ShardFinder.Found found, String who) {
    String peer = "shard " + shard.getIndex() + " at " + shard.getHost() + ":" + shard.getPort();
    Supplier<Future<GrpcShardLink>> open = () -> link(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD,
        shard, peer, why -> "server " + found.serverOf(shard.getIndex()) + " (" + peer + ") is lost" + atStep() + ": "
            + why + "; start the server again, then the job");
    return openWithRetries(who, peer, () -> ReopeningShardLink.open(VertxLoop.current(vertx), open, options.maxRequests())).map(link -> link);
  }

  /**
   * Opens the first stream to a peer, and retries while no connection is made in time; a peer that refuses it is gone.
   */
  private <T> Future<T> openWithRetries(String who, String peer, Supplier<Future<T>> open) {
    RepeatedCall<T> first = new RepeatedCall<>(VertxLoop.current(vertx), node.waits(), new RepeatedCall.Words(who, "request for a stream", peer),
        node.config().readyTimeout(), ShardConnections::isUnreached, open);
    opening.add(first);
    return first.start();
  }

  private static boolean isUnreached(Throwable e) {
    return e instanceof PeerLost && !TensorStreamClient.isNobody(e.getCause());
  }

  private Future<ShardLink> aggregated(Shard shard, ShardFinder.Found found, Directory.Instance aggregator, String who) {
    Future<ShardLink> direct = direct(shard, found, who);
    String peer = "gradient aggregator at " + aggregator.endpoint();
    Future<GrpcShardLink> through = openWithRetries(who, "the " + peer, () -> link(aggregator.host(), aggregator.controlPort(),
        StreamPaths.GRADIENT_AGGREGATOR, shard, peer, why -> "the " + peer + " is lost" + atStep() + ": " + why
            + "; start it again, then the job"));
    return Future.all(direct, through).map(both -> new AggregatedShardLink(direct.result(), through.result()));
  }

  /** A shard without dense parts gets its pushes through the worker as well if that may drop the whole push for NaN. */
  private Future<ShardLink> dense(Shard shard, ShardFinder.Found found, HeterWorkers heter, Directory.Instance home, String who) {
    Future<ShardLink> direct = direct(shard, found, who);
    if (!found.sharding().holdsDense(shard.getIndex()) && job.nanPolicy() == NanPolicy.FAIL) {
      return direct;
    }
    Future<ShardLink> through = through(shard, home);
    return Future.all(direct, through).map(both ->
        new HeterShardLink(shard.getIndex(), direct.result(), through.result(), home, to -> through(shard, to), heter,
            job.heter().path() == HeterConfig.DensePath.COLLECTIVE));
  }

  private Future<ShardLink> through(Shard shard, Directory.Instance worker) {
    String peer = "heter worker " + worker.index() + " at " + worker.endpoint();
    return link(worker.host(), worker.controlPort(), StreamPaths.HETER_EXCHANGE, shard, peer, why -> peer + " is lost: " + why)
        .map(link -> link);
  }

  private Future<GrpcShardLink> link(String peerHost, int port, String path, Shard shard, String peer,
      UnaryOperator<String> lost) {
    return streams.open(peerHost, port, path).map(stream -> new GrpcShardLink(stream, peer, shard.getIndex(),
        shard.getIncarnation(), generation, name -> digest(shard, name), options).sayLost(lost));
  }

  private String atStep() {
    long step = lastStep.getAsLong();
    return step < 0 ? "" : " at step " + step;
  }

  private Future<Long> digest(Shard shard, String name) {
    ParameterServerControl control = new ParameterServerControl(node.network(), shard.getHost(), shard.getPort());
    return control.digest(name).eventually(control::close);
  }

  /** Returns the aggregator of this host; others in the directory serve other hosts. */
  private Future<Directory.Instance> aggregator(Deadline deadline, String who) {
    Duration left = Duration.ofNanos(Math.max(1, deadline.leftNanos()));
    return node.directory().awaitAny(Directory.GRADIENT_AGGREGATOR, left, who).compose(found -> {
      for (Directory.Instance i : found) {
        if (i.attributes().getOrDefault("host", i.host()).equals(node.host())) {
          return Future.succeededFuture(i);
        }
      }
      if (deadline.isPast()) {
        return Future.failedFuture(new PeerLost(who + ": no gradient aggregator runs on this host, " + node.host()
            + " (the directory lists " + found.stream().map(Directory.Instance::endpoint).toList() + ")"
            + "; start one here, or set aggregator: false"));
      }
      return LoopFutures.after(VertxLoop.current(vertx), RETRY_MILLIS).compose(t -> aggregator(deadline, who));
    });
  }

  /** Closes all connections; open links break. */
  Future<Void> close() {
    opening.forEach(first -> first.giveUp(new Cancelled("the connections to the shards are closed")));
    return streams.close();
  }
}
