package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException;
import io.regatta.fleet.launch.ServerUse;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * A client that asks servers started by a launcher for the trainers that hold a job there. Any thread. It also asks the
 * rendezvous if that is beside one of them. It has the security settings of its job.
 */
public final class LaunchedServers implements ServerUse {

  private static final String ACTIVE = "active";

  private final Supplier<NodeConfig> config;

  /**
   * Creates a client.
   *
   * @param config of a client of the job's services; read when servers are asked, and not before
   */
  public LaunchedServers(Supplier<NodeConfig> config) {
    this.config = config;
  }

  @Override
  public Asking begin(List<String> servers, String rendezvous, Consumer<String> told, Runnable over) {
    NodeConfig here;
    try {
      here = config.get().withCluster(ClusterConfig.fixed(Map.of(Directory.PARAMETER_SERVER, String.join(",", servers))));
    } catch (RegattaException e) { // no reason to end servers that could read theirs
      told.accept(unasked(e));
      return () -> { };
    }
    Node.Starting client = Node.begin(here, "client");
    client.future().compose(node -> left(node, servers, rendezvous, told)).onSuccess(left -> over.run())
        .onFailure(e -> told.accept(unasked(e)));
    return () -> Blocking.get(client.close());
  }

  private static String unasked(Throwable why) {
    return "regatta: it cannot be seen whether other machines' trainers use the servers of this one: " + why.getMessage()
        + ". End them with Ctrl-C when the job is over";
  }

  private static Future<Void> left(Node node, List<String> servers, String rendezvous, Consumer<String> told) {
    List<ParameterServerControl> controls = servers.stream().map(server -> HostPort.parse(server, "--servers"))
        .map(at -> new ParameterServerControl(node.network(), at.host(), at.port())).toList();
    HostPort meeting = rendezvous.isEmpty() ? null : HostPort.parse(rendezvous, "--servers");
    RendezvousClient members = meeting == null ? null
        : new RendezvousClient(node.network(), meeting.host(), meeting.port());
    Supplier<Future<String>> holders = () -> Future.all(controls.stream().map(control -> control.status("")).toList())
        .map(all -> DepartureWatch.holders(all.<StatusReply>list()))
        .compose(held -> !held.isEmpty() || members == null ? Future.succeededFuture(held) : members.groups().map(
            LaunchedServers::members));
    return new DepartureWatch(VertxLoop.current(node.vertx()), holders, who -> told.accept("waits for " + who)).await();
  }

  /** Returns the members that have left the servers, but not the rendezvous yet; empty: none. */
  private static String members(GroupsReply all) {
    return all.getGroupsList().stream().filter(group -> group.getMembersList().stream().anyMatch(member -> member.getState()
        .equals(ACTIVE))).map(group -> "members of group " + group.getGroup()).collect(Collectors.joining(", "));
  }
}
