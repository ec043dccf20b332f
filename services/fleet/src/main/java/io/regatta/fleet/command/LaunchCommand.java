package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.RemoteLaunchOptions;
import io.regatta.fleet.command.option.RoleOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.launch.LaunchVariables;
import io.regatta.fleet.launch.Launches;
import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.launch.plan.Meeting;
import io.regatta.fleet.launch.remote.RemoteLaunch;
import io.regatta.fleet.process.LaunchedServers;
import io.regatta.fleet.role.LaunchedRole;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Unmatched;

/**
 * The command that starts the processes of a job on this machine, in the words of PaddlePaddle's launchers. Under the
 * name {@code launch_ps} it has the defaults of the older one.
 */
@Command(name = "launch", aliases = "launch_ps", mixinStandardHelpOptions = true,
    description = "Starts the servers and trainers of a job on this machine, watches them, and ends with them.",
    footer = {"", "Two servers and two trainers:   regatta launch --server_num 2 --worker_num 2 configs/ctr-dnn.yaml",
        "And two heter workers:          regatta launch --server_num 2 --worker_num 2 --heter_worker_num 2 "
        + "configs/ctr-dnn.yaml",
        "Four that exchange directly:    regatta launch --nproc_per_node 4 configs/resnet50.yaml",
        "The same on two machines:       regatta launch --ips 10.0.0.1,10.0.0.2 --nproc_per_node 2 configs/resnet50.yaml",
        "Machines that are not named:    regatta launch --master 10.0.0.1:6379 --nnodes 2:4 --nproc_per_node 2 configs/lenet.yaml",
        "Over ssh:                       regatta launch --hosts machines --job_dispatch_package workspace job.yaml",
        "What follows the program is its own: a job file takes the options of the command run."})
final class LaunchCommand implements Callable<Integer> {

  @Spec
  private CommandSpec spec;

  @Mixin
  private RoleOptions roles;

  @Option(names = {"--ips", "--cluster_node_ips"}, paramLabel = "HOST,...",
      description = "machines of a collective job; this command is given on each of them")
  private String ips;

  @Option(names = {"--nproc_per_node", "--nproc-per-node"}, paramLabel = "N",
      description = "trainers of a collective job on each machine; without it one for each of --gpus, or for each GPU here, or one")
  private Integer nprocPerNode;

  @Option(names = "--master", paramLabel = "HOST:PORT",
      description = "where the machines of a collective job meet that are not named; one of them has this address")
  private String master;

  @Option(names = "--nnodes", paramLabel = "N[:M]", description = "machines that meet; of a range the job trains from N on, and others "
      + "may come and go")
  private String nnodes;

  @Option(names = "--rank", paramLabel = "N", description = "number of this machine, from 0, which has the master; without it as they "
      + "come")
  private Integer rank;

  @Option(names = {"--max_restart", "--max-restart"}, paramLabel = "N",
      description = "how often a trainer that fails is restarted, if the others continue without it: elastic jobs (3)")
  private Integer maxRestart;

  @Mixin
  private RemoteLaunchOptions remote;

  @Option(names = {"--gpus", "--devices", "--selected_gpus"}, paramLabel = "N,...",
      description = "GPUs to give to the trainers, or to the heter workers if there are any, one each, in turn")
  private String gpus;

  @Option(names = {"--host", "--node_ip"}, paramLabel = "HOST", defaultValue = "",
      description = "this machine's address: which of those in the lists, if that cannot be seen; without lists what its processes "
          + "listen on (127.0.0.1)")
  private String host;

  @Option(names = {"--start_port", "--start-port"}, paramLabel = "PORT",
      description = "first of the ports to use; without it any free ones, on several machines 6070 and on")
  private Integer startPort;

  @Option(names = {"--http_port", "--http-port"}, paramLabel = "PORT", defaultValue = "",
      description = "port of the HTTP store that programs are told, on the first server's machine; or HOST:PORT")
  private String httpPort;

  @Option(names = {"--log_dir", "--log-dir"}, paramLabel = "DIR", description = "logs of the processes (log; of launch_ps: logs)")
  private String logDir;

  @Option(names = {"--job_id", "--job-id"}, paramLabel = "NAME", defaultValue = "", description = "name of this launch, for its lines (default)")
  private String jobId;

  @Option(names = "--print_config", paramLabel = "True|False", defaultValue = "True", hidden = true,
      description = "whether the options are printed")
  private String printConfig;

  @Unmatched
  private List<String> others = new ArrayList<>();

  @Parameters(index = "0", paramLabel = "PROGRAM", description = "a job file, a jar with a main class, or a .java file")
  private String program;

  @Parameters(index = "1..*", paramLabel = "ARGS", description = "its arguments")
  private List<String> arguments = List.of();

  @Override
  public Integer call() {
    launched().refuseOptionsOf(spec);
    boolean old = "launch_ps".equals(name());
    LaunchVariables variables = new LaunchVariables(System.getenv(), old);
    try {
      Map<LaunchedRole, LaunchOptions.Asked> asked = roles.asked(variables, old);
      take(variables, RoleOptions.places(asked));
      LaunchOptions options = options(variables, asked, old);
      variables.lines().forEach(line -> Report.say(spec.commandLine().getOut(), line));
      return launch(options);
    } catch (InvalidInput e) {
      throw variables.named(e);
    }
  }

  /**
   * Sets options that were not given to the values of their variables.
   *
   * @param places of processes that are named
   */
  private void take(LaunchVariables variables, List<String> places) {
    ips = variables.text("--ips", ips);
    nprocPerNode = variables.number("--nproc_per_node", nprocPerNode);
    master = variables.text("--master", master);
    if (master != null && !master.isBlank()) {
      nnodes = variables.text("--nnodes", nnodes);
      rank = variables.number("--rank", rank);
    } else {
      variables.withoutEffect("without PADDLE_MASTER or --master", "--nnodes", "--rank");
    }
    maxRestart = variables.number("--max_restart", maxRestart);
    gpus = variables.text("--gpus", gpus);
    startPort = variables.number("--start_port", startPort);
    logDir = variables.text("--log_dir", logDir);
    jobId = variables.text("--job_id", jobId);
    if (Stream.concat(places.stream(), LaunchOptions.list(ips).stream()).anyMatch(variables::isOwnPlace)) {
      host = variables.text("--host", host);
    }
  }

  private LaunchOptions options(LaunchVariables variables, Map<LaunchedRole, LaunchOptions.Asked> asked, boolean old) {
    return new LaunchOptions(asked, old ? List.of() : LaunchOptions.list(ips), nprocPerNode,
        old && master == null && nnodes == null ? Meeting.NONE : Meeting.of(master, nnodes, rank, maxRestart), LaunchOptions.gpus(gpus),
        host, startPort, httpPort, variables.gloo(), logDir != null ? logDir : old ? "logs" : "log", jobId.isBlank() ? LaunchOptions.JOB_ID : jobId,
        program, launched().arguments(), given(variables));
  }

  private LaunchedProgram launched() {
    return new LaunchedProgram(program, Stream.concat(others.stream(), arguments.stream()).toList());
  }

  /** Returns options by their first names, as they were typed, or as the variables that stand for them say. */
  private Map<String, String> given(LaunchVariables variables) {
    Map<String, String> given = variables.options();
    spec.commandLine().getParseResult().matchedOptions().forEach(option -> given.put(option.names()[0],
        String.join(",", option.stringValues())));
    return given;
  }

  private int launch(LaunchOptions options) {
    boolean quiet = "False".equalsIgnoreCase(printConfig);
    if (remote.isGiven()) {
      return new RemoteLaunch(options, remote.options(), launched().jobElsewhere(remote.directory()), spec.commandLine().getOut()).run(
          quiet);
    }
    remote.refuse(options.given().keySet());
    if (!others.isEmpty()) { // which only the processes of other machines are passed
      throw new CommandLine.UnmatchedArgumentException(spec.commandLine(), others);
    }
    return Launches.run(options, launched().job(), Regatta.class.getName(), quiet, launched()::check,
        new LaunchedServers(launched()::client), spec.commandLine().getOut());
  }

  /** Returns the name by which the command was called. */
  private String name() {
    List<String> typed = spec.root().commandLine().getParseResult().originalArgs();
    return typed.isEmpty() ? "" : typed.get(0);
  }
}
