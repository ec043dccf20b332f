package io.regatta.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.model.Sharding;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.parameterserver.ParameterServerGrpcService;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.parameterserver.ShardMapReply;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two shards on one server, which answers as the test says. */
class LivingShardsTest {

  private Vertx vertx;
  private Node node;
  private HttpServer server;
  private Future<ShardMapReply> answer;

  @BeforeEach
  void listen() throws Exception {
    vertx = Vertx.vertx();
    node = Node.embedded(vertx, null, "test");
    GrpcCalls calls = new GrpcCalls(vertx);
    calls.service(ParameterServerGrpcService.SERVICE_DESCRIPTOR, () -> true)
        .unary(ParameterServerGrpcService.ShardMap, request -> answer);
    StreamOptions options = StreamOptions.defaults();
    server = get(TensorStreamServer.create(vertx, options)
        .requestHandler(TensorStreamServer.handler(vertx, Map.of(), calls, options)).listen(0, "127.0.0.1"));
  }

  @AfterEach
  void close() throws Exception {
    get(node.close().eventually(vertx::close));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
  }

  private Shard shard(int index, long incarnation) {
    return Shard.newBuilder().setIndex(index).setHost("127.0.0.1").setPort(server.actualPort())
        .setIncarnation(incarnation).build();
  }

  private Set<Integer> living(Integer... shards) throws Exception {
    Directory.Instance instance = new Directory.Instance(Directory.PARAMETER_SERVER, "s", 0, "127.0.0.1",
        server.actualPort(), 7, Map.of());
    ShardFinder.Found found = new ShardFinder.Found(List.of(instance), List.of(shard(0, 7), shard(1, 7)),
        Sharding.common(2), Map.of());
    return get(new LivingShards(node, found).of(Set.of(shards)));
  }

  @Test
  void when_the_server_answers_for_the_same_life_then_the_shards_that_are_asked_for_live() throws Exception {
    answer = Future.succeededFuture(ShardMapReply.newBuilder().addShards(shard(0, 7)).addShards(shard(1, 7)).build());
    assertThat(living(1)).containsExactly(1);
    assertThat(living(0, 1)).containsExactly(0, 1);
  }

  @Test
  void when_the_server_was_started_again_or_stops_then_no_shard_lives() throws Exception {
    answer = Future.succeededFuture(ShardMapReply.newBuilder().addShards(shard(0, 8)).addShards(shard(1, 8)).build());
    assertThat(living(0, 1)).isEmpty();
    answer = Future.failedFuture(new PeerLost("it is shutting down"));
    assertThat(living(0, 1)).isEmpty();
  }

  @Test
  void when_the_server_is_frozen_or_gone_then_no_shard_lives() throws Exception {
    answer = Promise.<ShardMapReply>promise().future();
    assertThat(living(0)).isEmpty();
    get(server.close());
    answer = null;
    assertThat(living(0)).isEmpty();
  }
}
