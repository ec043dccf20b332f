package io.regatta.aggregator;

import static io.regatta.aggregator.RunningCluster.failure;
import static io.regatta.aggregator.RunningCluster.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.ShardAddresses;
import io.regatta.node.settings.StreamConfig;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.shard.ShardStreamHandler.Origin;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Registrations at an aggregator, which sees that it finds the shard that the trainer talks to. */
@ExtendWith(BlockedLoopGuard.class)
class RegistrationTest {

  /** None of these lookups ends by its time. */
  private static final long LOOKUP_MILLIS = TimeUnit.MINUTES.toMillis(5);

  /** A server in the directory that accepts connections and says nothing, until it ends them and those that still come. */
  private static final class Frozen {
    private final List<NetSocket> sockets = new ArrayList<>();
    private final Promise<Void> asked = Promise.promise();
    private boolean thawed;

    Frozen(RunningCluster cluster) {
      NetServer server = get(cluster.vertx.createNetServer().connectHandler(this::accept).listen(0, "127.0.0.1"));
      get(cluster.directory.register(new Directory.Instance(Directory.PARAMETER_SERVER, "frozen", 1, "127.0.0.1",
          server.actualPort(), 1, Map.of())));
    }

    private synchronized void accept(NetSocket socket) {
      sockets.add(socket);
      asked.tryComplete();
      if (thawed) {
        socket.close();
      }
    }

    /** Waits until the look-up in the directory has led here. */
    void awaitAsked() {
      get(asked.future());
    }

    synchronized void thaw() {
      thawed = true;
      sockets.forEach(NetSocket::close);
    }

    synchronized int connections() {
      return sockets.size();
    }
  }

  private static JobSpec job(String name) {
    return new JobSpec(name, Mode.SYNC, 1, 0, NanPolicy.FAIL, RunningCluster.SHARDS, 256, new ModelSpec(7,
        List.of(new DenseVariable("w", List.of(10))), OptimizerSpec.sgd(0.1), List.of()));
  }

  private static Origin origin(String job, long incarnation) {
    return new Origin(job, 0, incarnation, 1, new TrainerId(0, 1));
  }

  /** At most one job at a time, so that one that was left over shows. */
  private static AggregatorEndpoint endpoint(RunningCluster cluster) {
    AggregatorConfig config = new AggregatorConfig(0, 100, LOOKUP_MILLIS, new AggregatorConfig.Limits(1, 64, 1 << 20),
        StreamConfig.defaults());
    return get(cluster.on(() -> Future.succeededFuture(new AggregatorEndpoint(new Uplink(cluster.vertx,
        cluster.vertx.getOrCreateContext(), cluster.directory, config, config.stream().options())))));
  }

  private static Future<Long> register(RunningCluster cluster, AggregatorEndpoint endpoint, Origin from) {
    return cluster.on(() -> endpoint.register(from, job(from.job()), 0));
  }

  private static void close(RunningCluster cluster, AggregatorEndpoint endpoint) {
    get(cluster.on(() -> endpoint.close(new Cancelled("the test is over"))));
  }

  @Test
  void whoTalksToAnotherIncarnationOfTheShardIsRefusedAndBothAreNamed() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0)) {
      AggregatorEndpoint endpoint = endpoint(cluster);
      long real = cluster.shards().get(0).getIncarnation();
      assertThat(failure(register(cluster, endpoint, origin("job", real - 1)).toCompletionStage()))
          .isInstanceOf(NotOwner.class).hasMessageContaining("incarnation " + (real - 1) + " of shard 0")
          .hasMessageContaining("incarnation " + real + " at 127.0.0.1:" + cluster.shards().get(0).getPort());
      get(register(cluster, endpoint, origin("other", real)));
      close(cluster, endpoint);
    }
  }

  /** The other one has the later incarnation. */
  @Test
  void ofTwoServersOfOneIndexTheOneThatTheTrainersTalkToIsMeant() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0);
        RunningCluster second = new RunningCluster(job("job"), 0)) {
      long real = cluster.shards().get(0).getIncarnation();
      get(cluster.directory.register(get(second.directory.list(Directory.PARAMETER_SERVER)).get(0)));
      AggregatorEndpoint endpoint = endpoint(cluster);
      get(register(cluster, endpoint, origin("job", real)));
      close(cluster, endpoint);
    }
  }

  /** One that is frozen keeps all of them waiting, and sees one connection. */
  @Test
  void manyThatAreLookedUpAtOnceAskEachServerOnce() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0)) {
      long real = cluster.shards().get(0).getIncarnation();
      Frozen frozen = new Frozen(cluster);
      ShardAddresses addresses = new ShardAddresses(cluster.directory, new VertxNetwork(cluster.vertx), LOOKUP_MILLIS);
      List<Future<Shard>> found = new ArrayList<>();
      Future<?> all = cluster.on(() -> {
        for (int i = 0; i < 8 * RunningCluster.SHARDS; i++) {
          found.add(addresses.find(i % RunningCluster.SHARDS, real));
        }
        return Future.join(found);
      });
      frozen.awaitAsked();
      frozen.thaw();
      get(all);
      assertThat(found).extracting(shard -> shard.result().getIncarnation()).containsOnly(real);
      assertThat(frozen.connections()).isEqualTo(1);
    }
  }

  /** Asking again would not help. */
  @Test
  void aServerThatRefusesToAnswerIsNamedWithItsReason() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0)) {
      PeerSecurity security = PeerSecurity.of(null, Token.of("the-token-of-this-job", "a test"));
      HttpServer closed = get(cluster.vertx.createHttpServer().requestHandler(security.guard(r -> r.response().end()))
          .listen(0, "127.0.0.1"));
      get(cluster.directory.register(new Directory.Instance(Directory.PARAMETER_SERVER, "closed", 1, "127.0.0.1",
          closed.actualPort(), 1, Map.of())));
      ShardAddresses addresses = new ShardAddresses(cluster.directory, new VertxNetwork(cluster.vertx), 20_000);
      assertThat(failure(cluster.on(() -> addresses.find(RunningCluster.SHARDS, 0)).toCompletionStage())).isInstanceOf(InvalidInput.class)
          .hasMessageContainingAll("has shard " + RunningCluster.SHARDS, "127.0.0.1:" + closed.actualPort(),
              "refuses a call without the job's token", "node.token_file");
      get(cluster.on(() -> addresses.find(0, 0)));
    }
  }

  /** Its server came while the round of questions was under way. */
  @Test
  void whatARoundOfQuestionsUnderWayDoesNotFindIsAskedForAnew() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0);
        RunningCluster other = new RunningCluster(job("job"), 0)) {
      Frozen frozen = new Frozen(cluster);
      Directory.Instance late = get(other.directory.list(Directory.PARAMETER_SERVER)).get(0);
      long incarnation = other.shards().get(0).getIncarnation();
      ShardAddresses addresses = new ShardAddresses(cluster.directory, new VertxNetwork(cluster.vertx), LOOKUP_MILLIS);
      Future<Shard> early = cluster.on(() -> addresses.find(0, 0));
      frozen.awaitAsked();
      get(cluster.directory.register(late));
      Future<Shard> found = cluster.on(() -> {
        assertThat(early.isComplete()).as("still asking").isFalse();
        return addresses.find(0, incarnation);
      });
      get(cluster.on(Future::succeededFuture)); // behind that
      frozen.thaw();
      assertThat(get(found).getPort()).isEqualTo(other.shards().get(0).getPort());
    }
  }

  /** The lookup lasts while a frozen server in the directory is waited for. */
  @Test
  void aStreamThatClosesWhileItsShardIsLookedUpLeavesNothing() {
    try (RunningCluster cluster = new RunningCluster(job("job"), 0)) {
      long real = cluster.shards().get(0).getIncarnation();
      Frozen frozen = new Frozen(cluster);
      AggregatorEndpoint endpoint = endpoint(cluster);
      Origin from = origin("gone", real);
      Future<Long> registered = register(cluster, endpoint, from);
      get(cluster.on(() -> {
        endpoint.closed(from);
        return Future.succeededFuture();
      }));
      assertThat(registered.isComplete()).as("still looking").isFalse();
      frozen.thaw();
      assertThat(failure(registered.toCompletionStage())).isInstanceOf(Cancelled.class);
      get(register(cluster, endpoint, origin("job", real)));
      close(cluster, endpoint);
    }
  }
}
