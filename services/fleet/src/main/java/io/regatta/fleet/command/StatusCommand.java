package io.regatta.fleet.command;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.fleet.command.option.ClusterOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.command.output.StatusPage;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.process.Services;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusterConfig.DirectoryKind;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.node.settings.Settings;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.parameterserver.StatusReply;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command that asks every server of a running cluster, found through the directory, what its shards do. */
@Command(name = "status", mixinStandardHelpOptions = true,
    description = "Shows, per server and shard of a running cluster, the jobs, each trainer's state and last step.")
final class StatusCommand implements Callable<Integer> {

  private static final int READY_TIMEOUT_SECONDS = 10;

  /** How long one service may take to answer. */
  private static final int ANSWER_SECONDS = 5;

  /**
   * Settings of a client, to which no other process connects, and which may run beside a service whose variables it
   * shares.
   */
  static final JsonObject CLIENT = new JsonObject().put("node", new JsonObject()
      .put("admin", new JsonObject().put("enabled", false)).put("cluster", new JsonObject().put("port", 0)));

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
      return Report.DONE;
    } finally {
      Blocking.get(node.close());
    }
  }

  /**
   * Returns the settings of the node. Endpoints given here are asked as they are, servers or a rendezvous alone; others
   * come from the configuration.
   */
  private NodeConfig config() {
    List<Settings.Option> given = new ArrayList<>();
    cluster.addSeeds(given);
    SettingsOptions.add(given, "--ready-timeout", "node.ready_timeout_seconds", readyTimeout);
    NodeConfig node = ProcessSettings.load(settings.conf(), given, settings.keys(), CLIENT).node();
    Map<String, String> endpoints = cluster.endpoints();
    return endpoints.isEmpty() ? node : node.withCluster(ClusterConfig.fixed(endpoints));
  }

  /** A service that was asked, and its answer, which has arrived or failed. */
  private record Asked<T>(Directory.Instance instance, Future<T> reply) {

    String silence() {
      return instance.service() + " at " + instance.endpoint() + " does not answer: " + reply.cause().getMessage();
    }
  }

  /** @param silent other services, of which the places are known */
  private record Answers(List<Asked<StatusReply>> servers, List<Asked<GroupsReply>> rendezvous,
      List<Directory.Instance> silent) {}

  /** Asks all services. Fails only if none answered: the directory lists a dead service, too, until its lease ends. */
  private Future<Answers> ask(Node node) {
    ClusterConfig where = node.config().cluster();
    boolean noServers = where.directory() == DirectoryKind.FIXED
        && !where.endpoints().containsKey(Directory.PARAMETER_SERVER);
    Future<List<Directory.Instance>> servers = noServers ? Future.succeededFuture(List.of())
        : where.directory() == DirectoryKind.FIXED ? anyServer(node) : limited(node.directory().list(Directory.RENDEZVOUS))
            .compose(rendezvous -> rendezvous.isEmpty() ? anyServer(node) // a cluster of collective jobs has none
                : limited(node.directory().list(Directory.PARAMETER_SERVER)));
    return servers.compose(found -> limited(node.directory().list(Directory.RENDEZVOUS))
        .compose(rendezvous -> Future.all(Services.silent().stream().map(service ->
        limited(node.directory().list(service.name())))
            .toList()).compose(silent -> {
          Answers answers = new Answers(found.stream().map(at -> new Asked<>(at, server(node, at))).toList(),
              rendezvous.stream().map(at -> new Asked<>(at, groups(node, at))).toList(),
              silent.<List<Directory.Instance>>list().stream().flatMap(List::stream).toList());
          List<Future<?>> all = Stream.<Asked<?>>concat(answers.servers().stream(), answers.rendezvous().stream())
              .<Future<?>>map(Asked::reply).toList();
          return Future.join(all).transform(done -> !all.isEmpty() && all.stream().noneMatch(Future::succeeded)
              ? Future.failedFuture(all.get(0).cause()) : Future.succeededFuture(answers));
        })));
  }

  private static Future<List<Directory.Instance>> anyServer(Node node) {
    return node.directory().awaitAny(Directory.PARAMETER_SERVER, node.config().readyTimeout(), "status");
  }

  /** Limits the time for an answer: a frozen service accepts a connection, and does nothing else. */
  private static <T> Future<T> limited(Future<T> answer) {
    return answer.timeout(ANSWER_SECONDS, TimeUnit.SECONDS).recover(e -> Future.failedFuture(
        e instanceof TimeoutException ? new PeerLost("no answer within " + ANSWER_SECONDS + " s") : e));
  }

  private Future<StatusReply> server(Node node, Directory.Instance server) {
    ParameterServerControl control = new ParameterServerControl(node.network(), server.host(), server.controlPort());
    return limited(control.status(job)).eventually(control::close);
  }

  private static Future<GroupsReply> groups(Node node, Directory.Instance rendezvous) {
    RendezvousClient client = new RendezvousClient(node.network(), rendezvous.host(), rendezvous.controlPort());
    return limited(client.groups()).eventually(client::close);
  }

  private static boolean isAuxiliary(Directory.Instance instance) {
    return Services.auxiliaries().stream().anyMatch(service -> service.name().equals(instance.service()));
  }

  private void print(Answers answers, PrintWriter out) {
    long now = SystemClock.get().epochMillis();
    answers.servers().stream().filter(asked -> asked.reply().succeeded())
        .sorted(Comparator.comparingInt(asked -> asked.reply().result().getServerIndex()))
        .forEach(asked -> StatusPage.server(asked.reply().result(), asked.instance(), now, out));
    answers.silent().forEach(service -> StatusPage.service(service, isAuxiliary(service), out));
    answers.rendezvous().stream().filter(asked -> asked.reply().succeeded())
        .forEach(asked -> StatusPage.rendezvous(asked.reply().result(), asked.instance(), job, out));
    Stream.<Asked<?>>concat(answers.servers().stream(), answers.rendezvous().stream())
        .filter(asked -> asked.reply().failed()).forEach(asked -> out.println(PeerText.message(asked.silence())));
    out.flush();
  }
}
