package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import java.util.List;
import java.util.Map;

/**
 * The processes of a job on this machine, and the variables of each. Immutable.
 *
 * @param collective whether trainers exchange among themselves; otherwise there are parameter servers
 * @param why the line that says how the mode was chosen
 * @param processes in the order of their roles, each in the order of its numbers
 * @param endpoints of all trainers of the job, in the order of their ranks; empty: they are not known beforehand
 * @param trainers of the job, at most
 * @param restarts how often a trainer that fails is started again
 * @param store through which the trainers rendezvous without a master, whose address is then unused; empty: none
 */
public record LaunchPlan(boolean collective, String why, List<Planned> processes, List<String> endpoints, int trainers, int restarts,
    String store) {

  private static final String MASTER = "PADDLE_MASTER";

  /**
   * One process.
   *
   * @param local its number among those of its role on this machine, from 0
   * @param environment its variables, beside those that it inherits
   */
  public record Planned(LaunchedRole role, int local, Map<String, String> environment) {

    public String name() {
      return role.inWords() + " " + local;
    }
  }

  public LaunchPlan {
    processes = List.copyOf(processes);
    endpoints = List.copyOf(endpoints);
  }

  public List<Planned> of(LaunchedRole role) {
    return processes.stream().filter(process -> process.role() == role).toList();
  }

  /** Returns true if trainers of other machines use the servers of this one. */
  public boolean isUsedFromElsewhere() {
    return !collective && trainers > of(LaunchedRole.WORKER).size();
  }

  /**
   * Returns true if this launch starts every process of the job, so that none needs to agree with one of another
   * launch. A launch on hosts over ssh does.
   */
  public boolean isWhole() {
    return trainers == of(LaunchedRole.WORKER).size() && (collective || LaunchedRole.parts().stream()
        .allMatch(role -> count(role) == of(role).size()));
  }

  /** Returns the number of the job's processes with a role, of all machines: the length of a list that all have. */
  public int count(LaunchedRole role) {
    return processes.stream().map(process -> process.environment().getOrDefault(role.list(), ""))
        .filter(list -> !list.isEmpty()).findFirst().map(list -> list.split(",").length).orElse(0);
  }

  /** Returns the auxiliary services that the job has, on any machine. */
  public List<LaunchedRole> auxiliaries() {
    return LaunchedRole.auxiliaries().stream().filter(auxiliary -> count(auxiliary) > 0).toList();
  }

  /** Returns {@code host:port} of each server of this machine. */
  public List<String> serversHere() {
    return of(LaunchedRole.SERVER).stream().map(server -> server.environment().get("POD_IP") + ":"
        + server.environment().get("PADDLE_PORT")).toList();
  }

  /** Returns {@code host:port} of the rendezvous, which is at the job's first server, if that is here; else empty. */
  public String rendezvousHere() {
    return of(LaunchedRole.SERVER).stream().map(server -> server.environment().get(LaunchedRole.SERVER.list())
        .split(",")[0])
        .filter(serversHere()::contains).findFirst().orElse("");
  }

  /** Creates a plan without a store. */
  public LaunchPlan(boolean collective, String why, List<Planned> processes, List<String> endpoints, int trainers, int restarts) {
    this(collective, why, processes, endpoints, trainers, restarts, "");
  }

  /** Returns {@code host:port} of the rendezvous of trainers that are not named; empty: they are, or there are none. */
  String meeting() {
    return of(LaunchedRole.WORKER).stream().map(worker -> worker.environment().getOrDefault(MASTER, "")).findFirst().orElse("");
  }

  /**
   * Returns the name of the variable, or of the job's key, with the trainers' endpoints, or with their rendezvous if
   * these are not known beforehand.
   */
  public String placesName() {
    return !store.isEmpty() ? "collective.store" : meeting().isEmpty() ? "PADDLE_TRAINER_ENDPOINTS" : MASTER;
  }

  /** Returns the endpoints that {@link #placesName} has. */
  public List<String> places() {
    return !store.isEmpty() ? List.of(store) : meeting().isEmpty() ? endpoints : List.of(meeting());
  }

  /**
   * Chooses the mode and lists the processes of this machine.
   *
   * @param job what is known of the program
   * @param machine addresses and ports of this machine
   * @throws InvalidInput for options that contradict each other or leave something open
   */
  public static LaunchPlan of(LaunchOptions options, LaunchedJob job, Machines machine, LaunchedGpus gpus) {
    return of(LaunchMode.here(options, job, gpus.visible().size()), options, job, machine, gpus);
  }

  /** Lists the processes of a launch whose mode has been chosen. */
  public static LaunchPlan of(LaunchMode mode, LaunchOptions options, LaunchedJob job, Machines machine, LaunchedGpus gpus) {
    if (mode.collective()) {
      return collective(mode.why(), options, job, machine, gpus);
    }
    LaunchOptions asked = options.parameterServerOptions().isEmpty() ? options.withOneOfEach() : options;
    return new ParameterServerPlan(asked, job, machine, gpus.onlyAsked()).plan(mode.why());
  }

  /**
   * Returns the plan of a collective job. Trainers of an elastic job need a rendezvous that outlives each of them, also
   * on one machine, unless the job has a store.
   */
  private static LaunchPlan collective(String why, LaunchOptions options, LaunchedJob job, Machines machine, LaunchedGpus gpus) {
    Meeting meeting = options.meeting();
    boolean elastic = meeting.machines().isOpen() || job.elastic();
    if (!meeting.master().isEmpty()) {
      return new MeetingPlan(options, meeting, machine, gpus, job.store()).plan(why, elastic);
    }
    if (elastic && options.ips().isEmpty() && machine.holdsPorts()) {
      String here = options.ownHost();
      Meeting own = meeting.at(here + ":" + machine.anyPort(here, 1));
      return new MeetingPlan(options, own, machine, gpus, job.store()).plan(why, true);
    }
    return new CollectivePlan(options, machine, gpus).plan(why);
  }
}
