package io.regatta.trainer;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.testing.FreePorts;
import io.regatta.program.CtrDnn;
import io.regatta.protocol.parameterserver.ParameterServerGrpcService;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetServer;
import io.vertx.grpc.server.GrpcServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A trainer's start beside a server that takes no connection at first, as on a machine under load. */
class UnreachedServersTest {
  private static final JobConfig JOB = JobConfig.of(new JsonObject().put("job", "unreached").put("program", CtrDnn.class.getName())
      .put("servers", 1).put("trainers", 1));

  private final Vertx vertx = Vertx.vertx();
  private final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  private final AtomicInteger connections = new AtomicInteger();

  @AfterEach
  void close() {
    get(directory.close());
    get(vertx.close());
  }

  @Test
  void findsTheShards_whenTheServerDropsItsFirstConnections() {
    int port = serverThatDrops(2, 3);
    Node node = node(60);
    get(directory.register(server(port)));
    ShardFinder finder = new ShardFinder(node, JOB, node.config().readyTimeout());
    assertThat(get(on(() -> finder.find("trainer 0"))).shards()).extracting(Shard::getIncarnation).containsExactly(7L);
    assertThat(connections.get()).as("the probe, two that were dropped, and one that served").isEqualTo(4);
  }

  @Test
  void namesTheServerAndTheTime_whenItDropsAllConnections() {
    int port = serverThatDrops(2, Integer.MAX_VALUE);
    Node node = node(1);
    get(directory.register(server(port)));
    ShardFinder finder = new ShardFinder(node, JOB, Duration.ofSeconds(1));
    assertThatThrownBy(() -> get(on(() -> finder.find("trainer 0")))).isInstanceOf(PeerLost.class)
        .hasMessageMatching("trainer 0 has waited for its request for the shard map, and server 0 at 127.0.0.1:" + port
            + " has not answered for \\d+\\.\\d s: .*");
    assertThat(get(node.waits().list())).isEmpty();
  }

  @Test
  void opensTheFirstStreams_whenTheShardDropsItsFirstConnections() {
    int port = serverThatDrops(1, 2);
    Node node = node(60);
    ShardConnections streams = get(on(() -> Future.succeededFuture(connections(node))));
    assertThat(get(on(() -> streams.open(found(port), "trainer 0")))).hasSize(1);
    get(on(streams::close));
  }

  @Test
  void takesTheShardForLostAtOnce_whenItsPortIsClosed() {
    int port = FreePorts.one();
    Node node = node(3600);
    ShardConnections streams = get(on(() -> Future.succeededFuture(connections(node))));
    assertThatThrownBy(() -> get(on(() -> streams.open(found(port), "trainer 0")))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("cannot open a tensor stream");
    get(on(streams::close));
  }

  @Test
  void opensNoMore_whenTheConnectionsAreClosed() {
    int port = serverThatDrops(1, Integer.MAX_VALUE);
    Node node = node(3600);
    ShardConnections streams = get(on(() -> Future.succeededFuture(connections(node))));
    Future<?> opening = on(() -> streams.open(found(port), "trainer 0"));
    while (connections.get() < 2) { // it has asked again
      get(vertx.timer(20).mapEmpty());
    }
    get(on(streams::close));
    assertThatThrownBy(() -> get(opening)).isInstanceOf(Cancelled.class);
    assertThat(get(node.waits().list())).isEmpty();
  }

  private Node node(int readySeconds) {
    return get(Node.embedded(vertx, directory, NodeConfig.defaults().withReadyTimeoutSeconds(readySeconds), "test"));
  }

  private static ShardConnections connections(Node node) {
    return new ShardConnections(node, JOB, () -> 1, () -> -1, node.streams(StreamOptions.defaults()));
  }

  private static Directory.Instance server(int port) {
    return new Directory.Instance(Directory.PARAMETER_SERVER, "server", 0, "127.0.0.1", port, 7, Map.of());
  }

  private static ShardFinder.Found found(int port) {
    return new ShardFinder.Found(List.of(server(port)), List.of(Shard.newBuilder().setHost("127.0.0.1").setPort(port)
        .setIncarnation(7).build()), null, Map.of());
  }

  /** A server whose connections from one number to another, from 1 on, are dropped before a byte is read. */
  private int serverThatDrops(int from, int to) {
    GrpcServer grpc = GrpcServer.server(vertx);
    grpc.callHandler(ParameterServerGrpcService.ShardMap, call -> call.handler(request -> call.response()
        .end(ShardMapReply.newBuilder().addShards(Shard.newBuilder().setHost("127.0.0.1").setPort(1).setIncarnation(7)).build())));
    HttpServer http = get(vertx.createHttpServer(new HttpServerOptions().setHost("127.0.0.1")).requestHandler(grpc).listen(0));
    NetServer proxy = vertx.createNetServer().connectHandler(near -> {
      int number = connections.incrementAndGet();
      if (number >= from && number <= to) {
        near.close();
        return;
      }
      near.pause();
      vertx.createNetClient().connect(http.actualPort(), "127.0.0.1").onSuccess(far -> {
        near.pipeTo(far);
        far.pipeTo(near);
      });
    });
    return get(proxy.listen(0, "127.0.0.1")).actualPort();
  }

  /** Calls on the one loop that owns what it calls. */
  private <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    vertx.getOrCreateContext().runOnContext(v -> call.get().onComplete(promise));
    return promise.future();
  }
}
