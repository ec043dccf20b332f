package io.regatta.rendezvous;

import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A real rendezvous on any free port, and a generated client of it. */
final class RunningRendezvous implements AutoCloseable {
  final Vertx vertx = Vertx.vertx();
  final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  final Node node = Node.embedded(vertx, directory, "test");
  final RendezvousVerticle verticle;
  final RendezvousClient client;
  private final String deployment;

  RunningRendezvous(RendezvousConfig config) {
    verticle = new RendezvousVerticle(node, config);
    deployment = get(vertx.deployVerticle(verticle));
    client = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", verticle.port());
  }

  /** A lease so short that a loss can be waited for, and long enough for a crowded machine. */
  static RendezvousConfig hasty() {
    return RendezvousConfig.defaults().with(c -> c.leaseMs(6000).tickMs(20).maxWaitMs(60_000));
  }

  Future<JoinReply> join(String group, int worldSize, int rank) {
    return client.join(group, worldSize, rank, "trainer-" + rank, "", 10_000);
  }

  Future<GatherReply> gather(JoinReply member, String key, byte[] payload) {
    return client.gather(member.getView().getGroup(), member.getRank(), member.getIncarnation(), key, payload, 10_000);
  }

  Future<Void> leave(JoinReply member) {
    return client.leave(member.getView().getGroup(), member.getRank(), member.getIncarnation(), member.getSecret());
  }

  Future<Long> heartbeat(JoinReply member, long step) {
    return client.heartbeat(member.getView().getGroup(), member.getRank(), member.getIncarnation(), step);
  }

  void stop() {
    get(vertx.undeploy(deployment));
  }

  static <T> T get(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new AssertionError("failed with " + e.getCause(), e.getCause());
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  static Throwable failure(Future<?> future) {
    try {
      Object value = future.toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
      throw new AssertionError("succeeded with " + value);
    } catch (ExecutionException e) {
      return e.getCause();
    } catch (InterruptedException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  @Override
  public void close() {
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }
}
