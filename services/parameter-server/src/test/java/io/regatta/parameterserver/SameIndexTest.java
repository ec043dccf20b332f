package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.vertx.core.Future;
import io.vertx.core.net.NetServer;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Two servers that are configured with one index. */
@ExtendWith(BlockedLoopGuard.class)
class SameIndexTest {

  private static final ParameterServerConfig ZERO = ParameterServerConfig.defaults().at(0, 2, 1);

  @Test
  void theSecondIsRefusedNamingTheFirstWhichServesOn() throws Exception {
    try (RunningServers servers = RunningServers.start(2, 1)) {
      String first = "127.0.0.1:" + servers.servers.get(0).port();
      ParameterServerVerticle second = new ParameterServerVerticle(servers.node, ZERO);
      assertThatThrownBy(() -> get(servers.vertx.deployVerticle(second))).isInstanceOf(Conflict.class)
          .hasMessageContaining("parameter-server 0 is at " + first).hasMessageContaining("parameter_server.index");
      assertThat(get(servers.directory.list(Directory.PARAMETER_SERVER))).extracting(Directory.Instance::endpoint)
          .containsExactly(first, "127.0.0.1:" + servers.servers.get(1).port());
      assertThat(servers.status(0).getShardsCount()).isEqualTo(1);
      get(servers.vertx.undeploy(servers.deployments.get(0)));
      servers.deploy(ZERO);
    }
  }

  @Test
  void ofTwoThatStartAtOnceOneServes() throws Exception {
    try (RunningServers servers = new RunningServers()) {
      List<Future<String>> both = List.of(
          servers.vertx.deployVerticle(new ParameterServerVerticle(servers.node, ZERO)),
          servers.vertx.deployVerticle(new ParameterServerVerticle(servers.node, ZERO)));
      get(Future.join(both).otherwiseEmpty());
      assertThat(both).filteredOn(Future::succeeded).hasSize(1);
    }
  }

  /** It accepts connections, and that is all; but its entry is renewed. */
  @Test
  void aBusyHolderKeepsItsPlace() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      get(servers.vertx.undeploy(servers.deployments.get(0)));
      NetServer busy = get(servers.vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1"));
      get(servers.directory.registerSole(new Directory.Instance(Directory.PARAMETER_SERVER, "busy", 0, "127.0.0.1",
          busy.actualPort(), 1, Map.of()), holder -> Future.succeededFuture(false), ""));
      assertThatThrownBy(() -> get(servers.vertx.deployVerticle(new ParameterServerVerticle(servers.node, ZERO))))
          .isInstanceOf(Conflict.class).hasMessageContaining("127.0.0.1:" + busy.actualPort())
          .hasMessageContaining("does not answer but renews");
    }
  }

  /** One is dead, one is another server by now. */
  @Test
  void theEntryOfOneThatIsGoneIsReplaced() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      get(servers.vertx.undeploy(servers.deployments.get(0)));
      ParameterServerVerticle one = servers.deploy(ParameterServerConfig.defaults().at(1, 2, 1));
      for (int port : new int[] {FreePorts.one(), one.port()}) {
        get(servers.directory.registerSole(new Directory.Instance(Directory.PARAMETER_SERVER, "holder-" + port, 0,
            "127.0.0.1", port, 1, Map.of()), holder -> Future.succeededFuture(false), ""));
        ParameterServerVerticle server = new ParameterServerVerticle(servers.node, ZERO);
        String deployment = get(servers.vertx.deployVerticle(server));
        assertThat(get(servers.directory.list(Directory.PARAMETER_SERVER))).first()
            .extracting(Directory.Instance::controlPort).isEqualTo(server.port());
        get(servers.vertx.undeploy(deployment));
      }
    }
  }
}
