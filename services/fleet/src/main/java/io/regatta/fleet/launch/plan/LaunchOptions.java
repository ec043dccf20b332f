package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.node.address.HostPort;
import io.regatta.training.config.GpuAssignment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The options of a launcher's command line, under the names of PaddlePaddle's {@code launch}. Immutable.
 *
 * @param roles processes that were asked for, by their roles; one that is not here was not asked for
 * @param ips machines of a collective job, in the order of its ranks; empty: this one alone
 * @param nprocPerNode trainers of a collective job on each machine; null: one for each of {@code gpus}, or one
 * @param meeting rendezvous of the machines of a collective job that are not named
 * @param gpus of the trainers of this machine, by their number on it
 * @param host this machine's address; empty: where lists name machines, looked for among its own, and otherwise
 *     loopback
 * @param startPort first of the ports to use; null: any free ones on one machine, the usual ones on several
 * @param httpPort port, or {@code host:port}, of the HTTP store that is announced to programs; empty: any free one
 * @param gloo the value of {@code PADDLE_WITH_GLOO} for programs: 0 not to use it
 * @param logDir directory of the processes' logs
 * @param jobId name for log lines; {@link #JOB_ID} unless it was given
 * @param program a job file, a jar, or one .java file
 * @param arguments its arguments
 * @param given options as they were typed, or as variables that stand for them say, by their first names
 */
public record LaunchOptions(Map<LaunchedRole, Asked> roles, List<String> ips, Integer nprocPerNode, Meeting meeting,
    GpuAssignment gpus, String host, Integer startPort, String httpPort, String gloo, String logDir, String jobId,
        String program, List<String> arguments, Map<String, String> given) {

  /** Name of a launch that was given none, as in PaddlePaddle. */
  public static final String JOB_ID = "default";
  /** Value with which programs do not use gloo. */
  public static final String NO_GLOO = "0";
  private static final String LOOPBACK = "127.0.0.1";
  /** Options of a launch on other machines, which the block shows if it is one. */
  private static final List<String> REMOTE = List.of("--hosts", "--job_dispatch_package", "--job_workspace");

  /**
   * Processes of one role that were asked for.
   *
   * @param number of them on this machine; null: as {@code places} says
   * @param places {@code host:port}, of a trainer also {@code host}, of each on all machines; empty: {@code number}
   *     here
   */
  public record Asked(Integer number, List<String> places) {

    /** None. */
    public static final Asked NONE = new Asked(null, List.of());

    public Asked {
      places = List.copyOf(places);
    }

    /** Returns a number of processes on this machine. */
    public static Asked here(int number) {
      return new Asked(number, List.of());
    }

    /** Returns one at each of these places. */
    public static Asked at(List<String> places) {
      return new Asked(null, places);
    }
  }

  public LaunchOptions {
    roles = Map.copyOf(roles);
    ips = List.copyOf(ips);
    arguments = List.copyOf(arguments);
    given = Map.copyOf(given);
    roles.forEach((role, asked) -> check(role, asked));
    atLeast("--nproc_per_node", nprocPerNode, 1);
    atLeast("--start_port", startPort, 1);
    unique("--ips", ips);
    if (!meeting.master().isEmpty() && !ips.isEmpty()) {
      throw new InvalidInput("--master and --ips: machines meet, or are named; give one of the two");
    }
  }

  private static void check(LaunchedRole role, Asked asked) {
    atLeast(role.number().name(), asked.number(), 1);
    List<String> endpoints = asked.places().stream().filter(place -> role != LaunchedRole.WORKER || place.contains(":"))
        .toList();
    endpoints.forEach(endpoint -> HostPort.parse(endpoint, role.places().name()));
    unique(role.places().name(), endpoints);
  }

  /** Returns the processes of a role that were asked for. */
  public Asked of(LaunchedRole role) {
    return roles.getOrDefault(role, Asked.NONE);
  }

  /** Returns the same options for other machines, by their names; numbers on each are in the lists. */
  public LaunchOptions on(Map<LaunchedRole, Asked> newRoles, List<String> newIps) {
    return new LaunchOptions(newRoles, newIps, nprocPerNode, meeting, gpus, host, startPort, httpPort, gloo, logDir,
        jobId,
        program, arguments, given);
  }

  /** Returns the same options with one server and one trainer, for a command that has asked for neither mode. */
  LaunchOptions withOneOfEach() {
    return on(Map.of(LaunchedRole.SERVER, Asked.here(1), LaunchedRole.WORKER, Asked.here(1)), ips);
  }

  /** Returns this machine's address where no list names it. */
  String ownHost() {
    return host.isEmpty() ? LOOPBACK : host;
  }

  /**
   * Returns the gloo variables of programs, whether they use it or not. Their directory, which no process of a launch
   * needs, belongs to this launch alone.
   */
  Map<String, String> glooVariables() {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PADDLE_WITH_GLOO", gloo);
    variables.put("PADDLE_GLOO_RENDEZVOUS", "3");
    variables.put("PADDLE_GLOO_FS_PATH", Path.of(System.getProperty("java.io.tmpdir"), "regatta-gloo-" + ProcessHandle.current().pid())
        .toString());
    return variables;
  }

  private static void atLeast(String option, Integer value, int least) {
    if (value != null && value < least) {
      throw new InvalidInput(option + " must be at least " + least + ", not " + value);
    }
  }

  private static void unique(String option, List<String> list) {
    if (list.stream().distinct().count() < list.size()) {
      throw new InvalidInput(option + " names one place twice: " + String.join(",", list));
    }
  }

  /** Returns the GPUs of {@code --gpus}. */
  public static GpuAssignment gpus(String text) {
    List<Integer> numbers = new ArrayList<>();
    for (String gpu : list(text)) {
      if (!gpu.matches("\\d{1,4}")) {
        throw new InvalidInput("--gpus: expected numbers with commas between, as in --gpus 0,1, got \"" + gpu + "\"");
      }
      numbers.add(Integer.valueOf(gpu));
    }
    return new GpuAssignment(numbers);
  }

  /** Returns the items of a list on the command line; spaces around them do not matter. */
  public static List<String> list(String text) {
    List<String> items = new ArrayList<>();
    if (text != null) {
      for (String item : text.split(",")) {
        if (!item.isBlank()) {
          items.add(item.strip());
        }
      }
    }
    return items;
  }

  /** Returns the block that launchers print first: every option by name, as Python would show it. */
  public String block() {
    Map<String, String> lines = new TreeMap<>();
    if (given.containsKey(REMOTE.get(0))) {
      REMOTE.forEach(option -> lines.put(option.substring(2), given.getOrDefault(option, "None")));
    }
    lines.put("gpus", gpus.gpus().isEmpty() ? "None" : gpus.toString());
    LaunchedRole.parts().stream().filter(role -> role.isOfPaddle() || roles.containsKey(role)).forEach(role -> {
      lines.put(role.number().bareName(), none(of(role).number()));
      lines.put(role.places().bareName(), String.join(",", of(role).places()));
    });
    lines.put("host", host.isEmpty() ? "None" : host);
    lines.put("http_port", httpPort.isEmpty() ? "None" : httpPort);
    lines.put("ips", ips.isEmpty() ? given.getOrDefault("--ips", LOOPBACK) : String.join(",", ips));
    lines.put("job_id", jobId);
    lines.put("log_dir", logDir);
    lines.put("master", meeting.master().isEmpty() ? "None" : meeting.master());
    lines.put("max_restart", Integer.toString(meeting.maxRestart()));
    lines.put("nnodes", meeting.machines().toString());
    lines.put("rank", Integer.toString(meeting.rank()));
    lines.put("nproc_per_node", none(nprocPerNode));
    lines.put("start_port", none(startPort));
    lines.put("training_script", program);
    lines.put("training_script_args", "[" + String.join(", ", arguments.stream().map(a -> "'" + a + "'").toList()) + "]");
    StringBuilder block = new StringBuilder("-----------  Configuration Arguments -----------\n");
    lines.forEach((name, value) -> block.append((name + ": " + value).stripTrailing()).append('\n'));
    return block.append("-".repeat(48)).toString();
  }

  private static String none(Integer value) {
    return value == null ? "None" : value.toString();
  }

  /** Returns the names of the options of parameter-server mode that were given, for messages. */
  List<String> parameterServerOptions() {
    Map<String, Boolean> given = new LinkedHashMap<>();
    Asked servers = of(LaunchedRole.SERVER);
    Asked workers = of(LaunchedRole.WORKER);
    given.put(LaunchedRole.WORKER.number().name(), workers.number() != null); // in the order of PaddlePaddle's list
    given.put(LaunchedRole.SERVER.number().name(), servers.number() != null);
    given.put(LaunchedRole.SERVER.places().name(), !servers.places().isEmpty());
    given.put(LaunchedRole.WORKER.places().name(), !workers.places().isEmpty());
    for (LaunchedRole auxiliary : LaunchedRole.auxiliaries()) {
      given.put(auxiliary.number().name(), of(auxiliary).number() != null);
      given.put(auxiliary.places().name(), !of(auxiliary).places().isEmpty());
    }
    return given(given);
  }

  /** Returns the names of the options of collective mode that were given, for messages. */
  List<String> collectiveOptions() {
    Map<String, Boolean> given = new LinkedHashMap<>();
    given.put("--ips", !ips.isEmpty());
    given.put("--nproc_per_node", nprocPerNode != null);
    given.put("--master", !meeting.master().isEmpty());
    return given(given);
  }

  private static List<String> given(Map<String, Boolean> options) {
    return options.entrySet().stream().filter(Map.Entry::getValue).map(Map.Entry::getKey).toList();
  }
}
