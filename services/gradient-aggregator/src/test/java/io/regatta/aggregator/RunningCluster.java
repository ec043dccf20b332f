package io.regatta.aggregator;

import com.google.protobuf.ByteString;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.settings.StreamConfig;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.shard.AggregatedShardLink;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Real rendezvous, parameter server and aggregators on any free ports of one Vertx, and trainers of one job. */
final class RunningCluster implements AutoCloseable {
  static final int SHARDS = 2;
  /** Longer than anybody here is silent. */
  private static final long LEASE_MILLIS = 60_000;
  /** Chunks smaller than the tensors. */
  private static final StreamOptions OPTIONS = StreamOptions.defaults().withChunkBytes(1024);

  /** A member of the job's group with its client; it sends heartbeats from its join until it is stopped. */
  final class Trainer {
    final TrainerId id;
    final ParameterClient client;
    private final long generation;
    private final ByteString secret;

    Trainer(JoinReply joined, int aggregator) {
      id = new TrainerId(joined.getRank(), joined.getIncarnation());
      generation = joined.getView().getGeneration();
      secret = joined.getSecret();
      client = new ParameterClient(job, id, links(aggregator), RunningCluster.this::onOwner);
    }

    private List<ShardLink> links(int aggregator) {
      List<ShardLink> links = new ArrayList<>();
      for (Shard shard : shards()) {
        ShardLink direct = link(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD, shard);
        links.add(aggregator < 0 ? direct : new AggregatedShardLink(direct,
            link("127.0.0.1", aggregators.get(aggregator).port(), StreamPaths.GRADIENT_AGGREGATOR, shard)));
      }
      return links;
    }

    private ShardLink link(String host, int port, String path, Shard shard) {
      ParameterServerControl control = new ParameterServerControl(new VertxNetwork(vertx), shard.getHost(), shard.getPort());
      closing.add(control::close);
      return get(on(() -> streams.open(host, port, path).map(stream -> new GrpcShardLink(stream,
          path + " of shard " + shard.getIndex(), shard.getIndex(), shard.getIncarnation(), () -> generation,
          control::digest, OPTIONS))));
    }

    /** Leaves the shards behind the aggregator's back. */
    void leaveShardsDirectly() {
      for (Shard shard : shards()) {
        ShardLink direct = link(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD, shard);
        get(direct.register(job, id, 0));
        get(direct.leave(true));
      }
    }

    /** Silence: no heartbeat from now on. */
    void die() {
      vertx.cancelTimer(hearts.get(id.rank()));
    }

    void leave() {
      get(client.leave(true));
      die();
      get(rendezvous.leave(job.job(), id.rank(), id.incarnation(), secret));
    }
  }

  final Vertx vertx = Vertx.vertx();
  final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  final Node node = Node.embedded(vertx, directory, "test");
  final JobSpec job;
  final List<AggregatorVerticle> aggregators = new ArrayList<>();
  final List<String> deployments = new ArrayList<>();
  /** Deployment of the parameter server. */
  final String server;
  private final RendezvousClient rendezvous;
  private final Context owner = vertx.getOrCreateContext();
  private final TensorStreamClient streams;
  private final long leaseMillis;
  /** Timers of heartbeats by rank. */
  private final Map<Integer, Long> hearts = new ConcurrentHashMap<>();
  private final List<Supplier<Future<Void>>> closing = new ArrayList<>();

  RunningCluster(JobSpec job, int aggregatorCount) {
    this(job, aggregatorCount, LEASE_MILLIS);
  }

  /** One whose rendezvous declares lost who is silent for so long. */
  RunningCluster(JobSpec job, int aggregatorCount, long leaseMillis) {
    this.job = job;
    this.leaseMillis = leaseMillis;
    RendezvousVerticle verticle = new RendezvousVerticle(node,
        RendezvousConfig.defaults().with(c -> c.leaseMs(leaseMillis).tickMs(20).maxWaitMs(60_000)));
    get(vertx.deployVerticle(verticle));
    server = get(vertx.deployVerticle(new ParameterServerVerticle(node,
        ParameterServerConfig.defaults().at(0, 1, SHARDS))));
    for (int i = 0; i < aggregatorCount; i++) {
      aggregators.add(new AggregatorVerticle(node, config()));
      deployments.add(get(vertx.deployVerticle(aggregators.get(i))));
    }
    rendezvous = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", verticle.port());
    closing.add(rendezvous::close);
    streams = get(on(() -> Future.succeededFuture(new TensorStreamClient(vertx, OPTIONS))));
    closing.add(streams::close);
  }

  static AggregatorConfig config() {
    AggregatorConfig defaults = AggregatorConfig.defaults();
    return new AggregatorConfig(0, 100, defaults.lookupMs(), defaults.limits(), StreamConfig.defaults());
  }

  /** All ranks join, register and pass the initialisation; {@code aggregatorOf} by rank, -1: none. */
  List<Trainer> trainers(float[] initial, int... aggregatorOf) {
    List<Future<JoinReply>> joins = new ArrayList<>();
    for (int rank = 0; rank < job.trainers(); rank++) {
      joins.add(rendezvous.join(job.job(), job.trainers(), rank, "trainer-" + rank, "", 10_000).onSuccess(this::beat));
    }
    List<Trainer> trainers = new ArrayList<>();
    joins.forEach(join -> trainers.add(new Trainer(get(join), aggregatorOf[trainers.size()])));
    trainers.forEach(trainer -> get(trainer.client.register()));
    get(trainers.get(0).client.initialize(initial));
    return trainers;
  }

  private void beat(JoinReply joined) {
    hearts.put(joined.getRank(), vertx.setPeriodic(leaseMillis / 10,
        timer -> rendezvous.heartbeat(job.job(), joined.getRank(), joined.getIncarnation(), 0)));
  }

  List<Shard> shards() {
    List<Shard> shards = new ArrayList<>();
    for (Directory.Instance server : get(directory.list(Directory.PARAMETER_SERVER))) {
      ParameterServerControl control = new ParameterServerControl(new VertxNetwork(vertx), server.host(), server.controlPort());
      closing.add(control::close);
      shards.addAll(get(control.shardMap()).getShardsList());
    }
    shards.sort(Comparator.comparingInt(Shard::getIndex));
    return shards;
  }

  private void onOwner(Runnable task) {
    owner.runOnContext(v -> task.run());
  }

  <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    onOwner(() -> {
      try {
        call.get().onComplete(promise);
      } catch (RuntimeException | AssertionError e) {
        promise.fail(e);
      }
    });
    return promise.future();
  }

  static <T> T get(Future<T> future) {
    return get(future.toCompletionStage());
  }

  static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("failed with " + e.getCause(), e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer within 20 s", e);
    }
  }

  static Throwable failure(CompletionStage<?> stage) {
    try {
      Object value = stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
      throw new AssertionError("succeeded with " + value);
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer within 20 s", e);
    }
  }

  @Override
  public void close() {
    hearts.values().forEach(vertx::cancelTimer);
    closing.forEach(close -> get(close.get()));
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }
}
