package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Which processes a job has on this machine, and what each is told. Immutable.
 *
 * @param collective whether trainers exchange among themselves; otherwise there are parameter servers
 * @param why the line that says how the mode was chosen
 * @param processes the master, servers, workers, each in the order of its numbers
 * @param endpoints of all trainers of the job, in the order of their ranks; or the master's, if only that is known
 * @param trainers of the job, at most
 * @param restarts how often a trainer that fails is started again
 */
record LaunchPlan(boolean collective, String why, List<Planned> processes, List<String> endpoints, int trainers, int restarts) {

  static final String LOOPBACK = "127.0.0.1";

  /**
   * One process.
   *
   * @param local its number among those of its role on this machine, from 0
   * @param environment its variables, beside those that it inherits
   */
  record Planned(LaunchedRole role, int local, Map<String, String> environment) {

    String name() {
      return role.word + " " + local;
    }
  }

  LaunchPlan {
    processes = List.copyOf(processes);
    endpoints = List.copyOf(endpoints);
  }

  List<Planned> of(LaunchedRole role) {
    return processes.stream().filter(process -> process.role() == role).toList();
  }

  /** Whether trainers of other machines use the servers of this one. */
  boolean isUsedFromElsewhere() {
    return !collective && trainers > of(LaunchedRole.WORKER).size();
  }

  /** {@code host:port} of each server of this machine. */
  List<String> serversHere() {
    return of(LaunchedRole.SERVER).stream().map(server -> server.environment().get("POD_IP") + ":"
        + server.environment().get("PADDLE_PORT")).toList();
  }

  /** {@code host:port} of the rendezvous, which is at the job's first server, if that is here; else empty. */
  String rendezvousHere() {
    return of(LaunchedRole.SERVER).stream().map(server -> server.environment().get("PADDLE_PSERVERS_IP_PORT_LIST").split(",")[0])
        .filter(serversHere()::contains).findFirst().orElse("");
  }

  /**
   * Chooses the mode and lists the processes.
   *
   * @param job what is known of the program
   * @param machine addresses and ports of this machine
   * @param gpus number of GPUs that can be used here
   * @throws InvalidInput for options that contradict each other or leave something open
   */
  static LaunchPlan of(LaunchOptions options, LaunchedJob job, Machines machine, int gpus) {
    options.refuseBothModes();
    List<String> servers = options.parameterServerOptions();
    List<String> collective = options.collectiveOptions();
    if (!servers.isEmpty()) {
      return new ParameterServerPlan(options, job.shards(), machine).plan("Run parameter-server mode. pserver arguments:"
          + quoted(servers) + ", GPU count:" + gpus);
    }
    if (!collective.isEmpty()) {
      return collective(options, job, machine, "Run collective mode. gpu arguments:" + quoted(collective) + ", GPU count:" + gpus);
    }
    if (gpus > 0) {
      return collective(options, job, machine, "Not found distinct arguments and there are " + gpus
          + " GPUs. Default use collective mode");
    }
    return new ParameterServerPlan(options.withOneOfEach(), job.shards(), machine).plan("Not found distinct arguments and there is no "
        + "GPU. Default use parameter-server mode, with one server and one trainer (--server_num, --worker_num)");
  }

  /** Trainers of an elastic job meet at a place that outlives each of them, also on one machine. */
  private static LaunchPlan collective(LaunchOptions options, LaunchedJob job, Machines machine, String why) {
    Meeting meeting = options.meeting();
    boolean elastic = meeting.machines().isOpen() || job.elastic();
    if (!meeting.master().isEmpty()) {
      return new MeetingPlan(options, meeting, machine).plan(why, elastic);
    }
    if (elastic && options.ips().isEmpty() && machine.holdsPorts()) {
      return new MeetingPlan(options, meeting.at(LOOPBACK + ":" + machine.anyPort(LOOPBACK, 1)), machine).plan(why, true);
    }
    return new CollectivePlan(options, machine).plan(why);
  }

  private static String quoted(List<String> names) {
    List<String> quoted = new ArrayList<>();
    names.forEach(name -> quoted.add("'" + name + "'"));
    return "[" + String.join(", ", quoted) + "]";
  }
}
