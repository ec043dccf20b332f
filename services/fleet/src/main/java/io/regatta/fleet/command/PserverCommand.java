package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.process.ServerProcess;
import io.regatta.fleet.role.Role;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.BadArguments;
import io.regatta.node.settings.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerMain;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * The command of a parameter server. With an option of PaddlePaddle's v2 it has a fixed endpoint, and learns its index
 * from the trainers. Otherwise all arguments go to the service's own main.
 */
@Command(mixinStandardHelpOptions = true, description = ParameterServerMain.DESCRIPTION,
    footer = {"", "In a cluster: -conf FILE, --set KEY=VALUE, --seeds HOST:PORT, --ready-timeout SECONDS, --show-config.",
        "With any of the options above it waits at its port for trainers that know it (their --pservers), and no cluster is "
            + "joined; then -conf and --set are taken as well.",
        "For example: regatta pserver --port=7164 --ports_num=1 --ports_num_for_sparse=1 --num_gradient_servers=1"})
final class PserverCommand implements Callable<Integer> {

  private static final int PORT = 7164;

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Option(names = "--port", paramLabel = "PORT", description = "first port to listen on; 7164 if another of these is given")
  private Integer port;

  @Option(names = {"--ports_num", "--ports-num"}, paramLabel = "N", description = "consecutive ports, each a shard with a thread (1)")
  private Integer portsNum;

  @Option(names = {"--ports_num_for_sparse", "--ports-num-for-sparse"}, paramLabel = "N",
      description = "more of them behind those (1), for sparse tables only; the others are for dense parameters only "
          + "then. 0: all are for both")
  private Integer portsNumForSparse;

  @Option(names = {"--num_gradient_servers", "--num-gradient-servers"}, paramLabel = "N",
      description = "trainers of a job; one with another number is refused. Without it any number")
  private Integer trainers;

  @Option(names = "--nics", paramLabel = "NAME,...", description = "network interface to listen on: the first of these, or an "
      + "address. Without it this machine alone can come")
  private String nics;

  @Unmatched
  private List<String> arguments = new ArrayList<>();

  /** The options that may be given beside those of v2. */
  @Command(name = "pserver")
  private static final class Others {
    @Mixin
    private SettingsOptions settings;
  }

  @Override
  public Integer call() {
    if (Stream.of(port, portsNum, portsNumForSparse, trainers, nics).allMatch(Objects::isNull)) {
      ServiceRoles.run(spec.name(), regatta.program(), arguments);
      return Report.DONE; // only after a signal: otherwise the service has ended the JVM with its own status
    }
    PrintWriter out = spec.commandLine().getOut();
    ProcessSettings place = place(atLeast("--ports_num", portsNum, 1), atLeast("--ports_num_for_sparse", portsNumForSparse, 0));
    ParameterServerConfig server = place.parameterServer(null);
    NodeConfig node = node(place.node(), server.port());
    if (InetAddress.getLoopbackAddress().getHostAddress().equals(node.host())) {
      Report.say(out, "This server listens on " + node.host() + ": for trainers on other machines give --nics");
    }
    ServerProcess.announced(node, server, place.rendezvous(), atLeast("--num_gradient_servers", trainers == null ? 0 : trainers,
        trainers == null ? 0 : 1), line -> Report.say(out, line)).serve();
    return Report.DONE;
  }

  private ProcessSettings place(int dense, int sparse) {
    Others others = new Others();
    try {
      new CommandLine(others).parseArgs(arguments.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new InvalidInput(BadArguments.words(e));
    }
    List<Settings.Option> given = new ArrayList<>();
    SettingsOptions.add(given, "--port", "parameter_server.port", atLeast("--port", port == null ? Integer.valueOf(PORT) : port, 1));
    SettingsOptions.add(given, "--ports_num", "parameter_server.shards", dense + sparse);
    SettingsOptions.add(given, "--ports_num_for_sparse", "parameter_server.sparse_shards", sparse);
    SettingsOptions.add(given, "--nics", "node.cluster.address", nics == null ? null : nics.split(",")[0].strip());
    return ProcessSettings.load(others.settings.conf(), given, others.settings.sectionKeys(), ProcessSettings.ofRole(Role.PSERVER));
  }

  /** Returns the settings of a node whose directory holds this server alone until a trainer announces more. */
  private static NodeConfig node(NodeConfig given, int port) {
    String host = !given.host().isBlank() ? given.host()
        : PublishedAddress.choose(given.cluster().address(), List.of()).address();
    return given.withHost(host).withCluster(ClusterConfig.fixed(Map.of(Directory.RENDEZVOUS,
        new HostPort(host, port).toString())));
  }

  /**
   * Returns the value of an option that has a lower limit.
   *
   * @param value null: 1, which is v2's default
   */
  private static int atLeast(String option, Integer value, int least) {
    int number = value == null ? 1 : value;
    if (number < least) {
      throw new InvalidInput(option + " must be at least " + least + ", not " + number);
    }
    return number;
  }
}
