package io.regatta.parameterserver;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.TrainerId;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** Real parameter servers on any free ports of one Vertx, and clients of them. */
final class RunningServers implements AutoCloseable {

  /** Chunks much smaller than the tensors. */
  static final StreamOptions OPTIONS = StreamOptions.defaults().withChunkBytes(1024);

  final Vertx vertx = Vertx.vertx(PlainVertx.options());
  final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  final Node node = Node.embedded(vertx, directory, "test");
  final List<ParameterServerVerticle> servers = new ArrayList<>();
  final List<String> deployments = new ArrayList<>();
  private final Context owner = vertx.getOrCreateContext();
  private final List<AutoCloseable> closing = new ArrayList<>();
  private StreamOptions options = OPTIONS;

  /** Servers with configured indices. */
  static RunningServers start(int servers, int shardsPerServer) {
    RunningServers running = new RunningServers();
    for (int i = 0; i < servers; i++) {
      running.deploy(ParameterServerConfig.defaults().at(i, servers, shardsPerServer));
    }
    return running;
  }

  /** Its clients' streams go this way; the servers allow each. */
  RunningServers over(Transport transport) {
    options = OPTIONS.withTransport(transport);
    return this;
  }

  ParameterServerVerticle deploy(ParameterServerConfig config) {
    ParameterServerVerticle server = new ParameterServerVerticle(node, config);
    deployments.add(get(vertx.deployVerticle(server)));
    servers.add(server);
    return server;
  }

  /** All shards by global index, found as a trainer finds them. */
  List<Shard> shards() {
    List<Shard> shards = new ArrayList<>();
    for (Directory.Instance server : get(directory.list(Directory.PARAMETER_SERVER))) {
      ShardMapReply map = get(control(server).shardMap());
      shards.addAll(map.getShardsList());
    }
    shards.sort(Comparator.comparingInt(Shard::getIndex));
    return shards;
  }

  ParameterServerControl control(Directory.Instance server) {
    return control(server.host(), server.controlPort());
  }

  ParameterServerControl control(String host, int port) {
    ParameterServerControl control = new ParameterServerControl(new VertxNetwork(vertx), host, port);
    closing.add(() -> get(control.close()));
    return control;
  }

  StatusReply status(int server) {
    return get(control(node.host(), servers.get(server).port()).status(""));
  }

  /** A trainer's client with a stream of its own to every shard. */
  ParameterClient client(JobSpec job, int rank, long incarnation) {
    List<GrpcShardLink> links = new ArrayList<>();
    for (Shard shard : shards()) {
      ParameterServerControl control = control(shard.getHost(), shard.getPort());
      TensorStream stream = stream(shard);
      links.add(get(on(() -> Future.succeededFuture(new GrpcShardLink(stream,
          "shard " + shard.getIndex() + " at " + shard.getHost() + ":" + shard.getPort(), shard.getIndex(),
          shard.getIncarnation(), () -> 1, control::digest, options)))));
    }
    return new ParameterClient(job, new TrainerId(rank, incarnation), links, this::onOwner);
  }

  TensorStream stream(Shard shard) {
    return get(on(() -> {
      TensorStreamClient client = new TensorStreamClient(vertx, options);
      closing.add(() -> get(client.close()));
      return client.open(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD);
    }));
  }

  void onOwner(Runnable task) {
    owner.runOnContext(v -> task.run());
  }

  <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    onOwner(() -> call.get().onComplete(promise));
    return promise.future();
  }

  static <T> T get(Future<T> future) {
    return get(future.toCompletionStage());
  }

  static <T> T get(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException failure) {
        throw failure;
      }
      throw new AssertionError(e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError("no answer within 20 s", e);
    }
  }

  @Override
  public void close() throws Exception {
    for (AutoCloseable c : closing) {
      c.close();
    }
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }
}
