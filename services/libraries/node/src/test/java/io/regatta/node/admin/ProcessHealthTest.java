package io.regatta.node.admin;

import static io.regatta.node.testing.Nodes.awaitChecks;
import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** The effect of a blocked event loop on a process's health. Blocks one on purpose, so there is no guard here. */
class ProcessHealthTest {

  @Test
  void aProcessWhoseEventLoopIsBlockedIsNotHealthyUntilItIsFree() throws Exception {
    Node node = get(Node.start(NodeConfig.defaults().with(c -> c
        .cluster(ClusterConfig.fixed(Map.of("rendezvous", "127.0.0.1:1")))
        .admin(new AdminConfig(true, 0, "", 200)).eventLoops(16)), "rendezvous"));
    Stuck stuck = new Stuck(node);
    get(node.vertx().deployVerticle(stuck));
    awaitChecks(node, "/health", 200, "event loop of rendezvous: UP", "directory: UP");
    stuck.block();
    try {
      awaitChecks(node, "/health", 503, "event loop of rendezvous: DOWN, does not answer within 200 ms", "directory: UP");
    } finally {
      stuck.free.countDown();
    }
    awaitChecks(node, "/health", 200, "event loop of rendezvous: UP", "directory: UP");
    get(node.close());
  }

  /** Such as a trainer whose cluster has lost its last member that holds data. */
  @Test
  void aProcessIsNotReady_whileItsDirectoryDoesNotAnswer() {
    ProcessDiagnostics diagnostics = new ProcessDiagnostics(Settings.defaults(AdminConfig.class), PeerSecurity.NONE, "",
        "", 10, "trainer");
    diagnostics.hosted().starting("trainer 0").serves();
    AtomicReference<Future<Void>> answer = new AtomicReference<>(Future.failedFuture("no member holds data"));
    diagnostics.directory(answer::get);
    assertThat(get(diagnostics.health().ready())).containsExactly(Check.up("trainer 0"),
        new Check("directory", false, "no member holds data"));
    answer.set(Future.succeededFuture());
    assertThat(get(diagnostics.health().ready())).containsExactly(Check.up("trainer 0"));
    get(diagnostics.close());
  }

  /** A service that blocks its event loop, which it has for itself, until it is freed. */
  private static final class Stuck extends VerticleBase {
    final CountDownLatch free = new CountDownLatch(1);
    private final Node node;

    Stuck(Node node) {
      this.node = node;
    }

    @Override
    public Future<?> start() {
      node.starting("rendezvous").serves();
      return Future.succeededFuture();
    }

    void block() {
      context.runOnContext(v -> {
        try {
          free.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      });
    }
  }
}
