package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Blocking;
import io.regatta.node.ClusterConfig;
import io.regatta.node.ClusterConfig.DirectoryKind;
import io.regatta.node.Directory;
import io.regatta.node.Interrupt;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.Settings;
import io.regatta.protocol.ParameterServerControl;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Asks every server of a running cluster, found through the directory, what its shards do. */
@Command(name = "status", mixinStandardHelpOptions = true,
    description = "Shows, per server and shard of a running cluster, the jobs, each trainer's state and last step.")
final class StatusCommand implements Callable<Integer> {

  private static final int READY_TIMEOUT_SECONDS = 10;

  private static final JsonObject NO_ADMIN =
      new JsonObject().put("node", new JsonObject().put("admin", new JsonObject().put("enabled", false)));

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private ClusterOptions cluster;

  @Option(names = "--job", paramLabel = "NAME", defaultValue = "", description = "this job only")
  private String job;

  @Option(names = "--ready-timeout", paramLabel = "SECONDS", description = "how long to look for servers")
  private int readyTimeout = READY_TIMEOUT_SECONDS;

  @Override
  public Integer call() {
    NodeConfig config = config();
    if (config.cluster().directory() == DirectoryKind.HAZELCAST && config.cluster().seeds().isEmpty()) {
      throw new InvalidInput("status: which cluster? Give its seed members with --seeds HOST:PORT,... or -conf FILE, or "
          + "its servers with --server-endpoints HOST:PORT,...");
    }
    Node.Starting node = Node.begin(config, "client");
    try (Interrupt interrupt = Interrupt.closes(node::close)) {
      Node started = Blocking.get(node.future());
      print(Blocking.get(ask(started)), spec.commandLine().getOut());
      return Regatta.DONE;
    } finally {
      Blocking.get(node.close());
    }
  }

  /** Endpoints given here are asked as they are, be it servers or a rendezvous alone; anything else as configured. */
  private NodeConfig config() {
    List<Settings.Option> given = new ArrayList<>();
    cluster.addSeeds(given);
    SettingsOptions.add(given, "--ready-timeout", "node.ready_timeout_seconds", readyTimeout);
    NodeConfig node = Place.load(settings.conf(), given, settings.keys(), NO_ADMIN).node();
    Map<String, String> endpoints = new HashMap<>();
    if (cluster.serverEndpoints() != null) {
      endpoints.put(Directory.PARAMETER_SERVER, cluster.serverEndpoints());
    }
    if (cluster.rendezvousEndpoint() != null) {
      endpoints.put(Directory.RENDEZVOUS, cluster.rendezvousEndpoint());
    }
    return endpoints.isEmpty() ? node : node.withCluster(ClusterConfig.fixed(endpoints));
  }

  /** What those that were asked said, and a line for each that did not answer. */
  private record Answers(List<StatusReply> servers, List<GroupsReply> groups, List<String> silent) {}

  /** Fails only if nobody answered: the directory lists a dead service, too, until its lease ends. */
  private Future<Answers> ask(Node node) {
    ClusterConfig where = node.config().cluster();
    boolean noServers = where.directory() == DirectoryKind.FIXED
        && !where.endpoints().containsKey(Directory.PARAMETER_SERVER);
    return (noServers ? Future.succeededFuture(List.<Directory.Instance>of())
        : node.directory().awaitAny(Directory.PARAMETER_SERVER, node.config().readyTimeout(), "status"))
        .compose(servers -> node.directory().list(Directory.RENDEZVOUS).compose(rendezvous -> {
          List<Future<StatusReply>> replies = servers.stream().map(server -> server(node, server)).toList();
          List<Future<GroupsReply>> groups = rendezvous.stream().map(at -> groups(node, at)).toList();
          List<Future<?>> all = Stream.<Future<?>>concat(replies.stream(), groups.stream()).toList();
          return Future.join(all).transform(done -> {
            if (!all.isEmpty() && all.stream().noneMatch(Future::succeeded)) {
              return Future.failedFuture(all.get(0).cause());
            }
            List<String> silent = new ArrayList<>(silent(servers, replies));
            silent.addAll(silent(rendezvous, groups));
            return Future.succeededFuture(new Answers(answered(replies), answered(groups), silent));
          });
        }));
  }

  private static <T> List<T> answered(List<Future<T>> replies) {
    return replies.stream().filter(Future::succeeded).map(Future::result).toList();
  }

  private static List<String> silent(List<Directory.Instance> asked, List<? extends Future<?>> replies) {
    return IntStream.range(0, asked.size()).filter(i -> replies.get(i).failed()).mapToObj(i -> asked.get(i).service()
        + " at " + asked.get(i).endpoint() + " does not answer: " + replies.get(i).cause().getMessage()).toList();
  }

  private Future<StatusReply> server(Node node, Directory.Instance server) {
    ParameterServerControl control = new ParameterServerControl(node.vertx(), server.host(), server.controlPort());
    return control.status(job).eventually(control::close);
  }

  private static Future<GroupsReply> groups(Node node, Directory.Instance rendezvous) {
    RendezvousClient client = new RendezvousClient(node.vertx(), rendezvous.host(), rendezvous.controlPort());
    return client.groups().eventually(client::close);
  }

  private void print(Answers answers, PrintWriter out) {
    List<StatusReply> servers = new ArrayList<>(answers.servers());
    servers.sort((a, b) -> Integer.compare(a.getServerIndex(), b.getServerIndex()));
    servers.forEach(server -> StatusPage.server(server, System.currentTimeMillis(), out));
    answers.groups().forEach(reply -> StatusPage.groups(reply, job, out));
    answers.silent().forEach(out::println);
    out.flush();
  }
}
