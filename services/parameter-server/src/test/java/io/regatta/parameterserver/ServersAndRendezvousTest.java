package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.GroupNames;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Parameter servers beside a real rendezvous: indices, and losses that it declares. */
@ExtendWith(BlockedLoopGuard.class)
class ServersAndRendezvousTest {

  /** Longer than anybody here is silent. */
  private static final long LEASE_MILLIS = 60_000;
  /** Lease of members whose silence must be noticed. */
  private static final long SHORT_LEASE_MILLIS = 5_000;

  @Test
  void serversGetIndicesFromTheRendezvousWhicheverStartsFirst() throws Exception {
    try (RunningServers cluster = new RunningServers()) {
      ParameterServerVerticle a = new ParameterServerVerticle(cluster.node, anyIndex());
      ParameterServerVerticle b = new ParameterServerVerticle(cluster.node, anyIndex());
      Future<String> first = cluster.vertx.deployVerticle(a);
      Future<String> second = cluster.vertx.deployVerticle(b);
      RendezvousClient rendezvous = rendezvous(cluster);
      get(first);
      get(second);
      assertThat(Set.of(a.index(), b.index())).containsExactlyInAnyOrder(0, 1);
      assertThat(get(cluster.directory.list(Directory.PARAMETER_SERVER))).extracting(Directory.Instance::index)
          .containsExactly(0, 1);
      List<Shard> shards = cluster.shards();
      assertThat(shards).extracting(Shard::getIndex).containsExactly(0, 1, 2, 3);

      get(cluster.vertx.undeploy(get(first)));
      GroupView servers = get(rendezvous.groups()).getGroupsList().stream()
          .filter(g -> g.getGroup().equals(GroupNames.PARAMETER_SERVERS)).findFirst().orElseThrow();
      assertThat(servers.getMembers(a.index()).getState()).isEqualTo("left");
      assertThat(servers.getMembers(b.index()).getState()).isEqualTo("active");
      get(cluster.vertx.undeploy(get(second)));
      assertThat(get(rendezvous.groups()).getGroupsList()).isEmpty();
      get(rendezvous.close());
    }
  }

  @Test
  void aJobNamedServersHasAGroupOfItsOwnBesideTheirs() throws Exception {
    try (RunningServers cluster = new RunningServers()) {
      RendezvousClient rendezvous = rendezvous(cluster);
      Future<JoinReply> first = rendezvous.join("servers", 2, -1, "trainer-0", "", 10_000);
      ParameterServerVerticle a = new ParameterServerVerticle(cluster.node, anyIndex());
      ParameterServerVerticle b = new ParameterServerVerticle(cluster.node, anyIndex());
      get(Future.all(cluster.vertx.deployVerticle(a), cluster.vertx.deployVerticle(b)));
      assertThat(first.isComplete()).as("a server is no trainer").isFalse();
      get(rendezvous.join("servers", 2, -1, "trainer-1", "", 10_000));
      assertThat(get(first).getView().getMembersList()).extracting(Member::getMember)
          .containsExactlyInAnyOrder("trainer-0", "trainer-1");
      get(rendezvous.close());
    }
  }

  /** Either one may come first: the directory lets one in. A later life has the greater incarnation in both cases. */
  @Test
  void oneIndexConfiguredHereAndGivenThereIsOneServers() throws Exception {
    ParameterServerConfig configured = ParameterServerConfig.defaults().at(0, 1, 1);
    ParameterServerConfig given = ParameterServerConfig.defaults().at(-1, 1, 1);
    try (RunningServers cluster = new RunningServers()) {
      RendezvousClient rendezvous = rendezvous(cluster);
      long last = 0;
      for (List<ParameterServerConfig> order : List.of(List.of(configured, given), List.of(given, configured))) {
        cluster.deploy(order.get(0));
        long incarnation = cluster.shards().get(0).getIncarnation();
        assertThat(incarnation).isGreaterThan(last);
        last = incarnation;
        assertThatThrownBy(() -> cluster.deploy(order.get(1))).isInstanceOf(Conflict.class)
            .hasMessageContaining("parameter-server 0 is at 127.0.0.1:").hasMessageContaining("parameter_server.index");
        assertThat(cluster.shards()).extracting(Shard::getIncarnation).containsExactly(last);
        get(cluster.vertx.undeploy(cluster.deployments.get(cluster.deployments.size() - 1)));
      }
      get(rendezvous.close());
    }
  }

  @Test
  void aServerWhosePlaceAnotherHasTakenIsNotReady() throws Exception {
    try (RunningServers cluster = new RunningServers(); RunningServers other = RunningServers.start(1, 1)) {
      Directory.Instance living = get(other.directory.list(Directory.PARAMETER_SERVER)).get(0);
      Node node = get(Node.embedded(cluster.vertx, cluster.directory, NodeConfig.defaults(), "server"));
      ParameterServerVerticle server = new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 1));
      get(cluster.vertx.deployVerticle(server));
      assertThat(ready(cluster, node)).doesNotContain("DOWN");
      get(cluster.directory.registerSole(new Directory.Instance(Directory.PARAMETER_SERVER, "newcomer", 0, living.host(),
          living.controlPort(), living.incarnation(), Map.of()), holder -> Future.succeededFuture(false), ""));
      String ready = ready(cluster, node);
      while (!ready.contains("DOWN")) {
        get(cluster.vertx.timer(50).mapEmpty());
        ready = ready(cluster, node);
      }
      assertThat(ready).contains("its place in the directory was taken by " + living.endpoint());
      get(node.close());
    }
  }

  @Test
  void aTrainerThatTheRendezvousDeclaresLostIsNotWaitedForAndTheLastLossFreesTheJob() throws Exception {
    try (RunningServers cluster = RunningServers.start(1, 2)) {
      RendezvousClient rendezvous = rendezvous(cluster, SHORT_LEASE_MILLIS);
      JobSpec job = Jobs.spec("lost", Mode.SYNC, 2, 2);
      Map<Integer, Long> hearts = new ConcurrentHashMap<>(); // by rank
      List<Future<JoinReply>> joins = new ArrayList<>();
      for (int rank = 0; rank < 2; rank++) {
        joins.add(rendezvous.join("lost", 2, rank, "trainer-" + rank, "", 10_000)
            .onSuccess(joined -> hearts.put(joined.getRank(), cluster.vertx.setPeriodic(SHORT_LEASE_MILLIS / 10,
                id -> rendezvous.heartbeat("lost", joined.getRank(), joined.getIncarnation(), 0)))));
      }
      ParameterClient survivor = cluster.client(job, 0, get(joins.get(0)).getIncarnation());
      ParameterClient frozen = cluster.client(job, 1, get(joins.get(1)).getIncarnation());
      get(survivor.register());
      get(frozen.register());
      get(survivor.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      cluster.vertx.cancelTimer(hearts.get(1));
      get(survivor.push(0, 8, null, Jobs.dense(0, 0), List.of())); // waits until trainer 1 is declared lost
      assertThat(cluster.status(0).getShards(1).getJobs(0).getTrainers(1).getState()).isEqualTo("lost");
      assertThat(get(rendezvous.groups()).getGroups(0).getMembersList()).extracting(Member::getState)
          .containsExactly("active", "lost");

      cluster.vertx.cancelTimer(hearts.get(0)); // the last one dies, too
      while (cluster.status(0).getShardsList().stream().anyMatch(s -> s.getJobsCount() > 0)) {
        get(cluster.vertx.timer(50).mapEmpty());
      }
      get(rendezvous.close());
    }
  }

  /** The port of the rendezvous is the same, its memory is not. */
  @Test
  void aServerWhoseRendezvousWasStartedAnewServesOnAndIsNotReadyForAnotherJob() throws Exception {
    try (RunningServers cluster = new RunningServers()) {
      int port = FreePorts.one(); // which nobody is dealt while it is nobody's
      String deployment = get(cluster.vertx.deployVerticle(new RendezvousVerticle(cluster.node, config(port, SHORT_LEASE_MILLIS))));
      Node node = get(Node.embedded(cluster.vertx, cluster.directory, NodeConfig.defaults(), "server"));
      ParameterServerVerticle server =
          new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(-1, 1, 1));
      get(cluster.vertx.deployVerticle(server));
      assertThat(ready(cluster, node)).doesNotContain("DOWN");
      get(cluster.vertx.undeploy(deployment));
      get(cluster.vertx.timer(SHORT_LEASE_MILLIS / 2).mapEmpty());
      assertThat(ready(cluster, node)).as("gone is no refusal").doesNotContain("DOWN");

      get(cluster.vertx.deployVerticle(new RendezvousVerticle(cluster.node, config(port, SHORT_LEASE_MILLIS))));
      String ready = ready(cluster, node);
      while (!ready.contains("DOWN")) {
        get(cluster.vertx.timer(50).mapEmpty());
        ready = ready(cluster, node);
      }
      assertThat(ready).contains("has lost its index", "start it again before the next one");
      assertThat(get(cluster.directory.list(Directory.PARAMETER_SERVER))).hasSize(1);
      get(node.close());
    }
  }

  /** The body is asked for in the turn in which the answer comes: in a later one it may have passed. */
  private static String ready(RunningServers cluster, Node node) {
    HttpClient client = cluster.vertx.createHttpClient();
    return get(client.request(HttpMethod.GET, node.adminPort(), "127.0.0.1", "/ready")
        .compose(request -> request.send().compose(HttpClientResponse::body)).map(Buffer::toString)
        .eventually(client::close));
  }

  private static ParameterServerConfig anyIndex() {
    return ParameterServerConfig.defaults().at(-1, 2, 2);
  }

  private static RendezvousClient rendezvous(RunningServers cluster) {
    return rendezvous(cluster, LEASE_MILLIS);
  }

  private static RendezvousClient rendezvous(RunningServers cluster, long leaseMillis) {
    RendezvousVerticle verticle = new RendezvousVerticle(cluster.node, config(0, leaseMillis));
    get(cluster.vertx.deployVerticle(verticle));
    return new RendezvousClient(new VertxNetwork(cluster.vertx), "127.0.0.1", verticle.port());
  }

  private static RendezvousConfig config(int port, long leaseMillis) {
    RendezvousConfig defaults = RendezvousConfig.defaults();
    return defaults.with(c -> c.port(port).leaseMs(leaseMillis).tickMs(20));
  }
}
