package io.regatta.fleet.role;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The roles of launched processes, in the order in which they are started. An entry has everything that launchers and
 * readers of their variables know of a role, so that a new role is one entry.
 *
 * <p>Workers are the trainers: when all have ended, the job is done, and the other processes are ended, those that
 * were started last first. The roles after the workers are auxiliary services: a job may have none of them, and they
 * serve trainers beside the servers.
 */
public enum LaunchedRole {

  /** The rendezvous of trainers that are not named. */
  MASTER(new Names("master", "master", "masterlog", "master.log"), null, null, null),

  /** The parameter servers. The first one has the rendezvous. */
  SERVER(new Names("server", "server", "serverlog", "server.log"),
      new Choice(new LaunchOption(List.of("--server_num", "--server-num"), "N", "parameter servers on this machine",
          List.of("PADDLE_SERVER_NUM")),
          new LaunchOption(List.of("--servers", "--endpoints"), "HOST:PORT,...",
              "every parameter server of the job; those whose "
              + "address is this machine's are started here", List.of("PADDLE_SERVERS_ENDPOINTS"))),
      new Part("PSERVER", Role.PSERVER, List.of("PADDLE_PSERVERS_IP_PORT_LIST"), "fleet.server_endpoints", "servers",
          ""),
      null),

  /** The trainers. In lists their port may be left out. */
  WORKER(new Names("worker", "trainer", "workerlog", "train.log"),
      new Choice(new LaunchOption(List.of("--worker_num", "--worker-num", "--trainer_num"), "N",
          "trainers on this machine",
          List.of("PADDLE_TRAINER_NUM")),
          new LaunchOption(List.of("--workers", "--trainers"), "HOST[:PORT],...", "every trainer of the job",
              List.of("PADDLE_TRAINERS_ENDPOINTS"))),
      new Part("TRAINER", Role.TRAINER, List.of("PADDLE_TRAINER_ENDPOINTS"), "fleet.trainer_endpoints", "trainers",
          "REGATTA_TRAINER_GPUS"),
      null),

  /** Processes that compute the expensive part of the network, and have the GPUs of the launch. */
  HETER_WORKER(new Names("heter_worker", "heter worker", "heterlog", "heter.log"),
      new Choice(new LaunchOption(List.of("--heter_worker_num", "--heter-worker-num"), "N",
          "heter workers on this machine, which compute the expensive part of the network for the trainers", List.of()),
          new LaunchOption(List.of("--heter_workers", "--heter-workers"), "HOST:PORT,...",
              "every heter worker of the job",
              List.of())),
      new Part("HETER_TRAINER", Role.HETER_WORKER,
          List.of("PADDLE_HETER_TRAINER_IP_PORT_LIST", "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"),
              "fleet.heter_endpoints",
          "heter.workers", "REGATTA_HETER_WORKER_GPUS"),
      new Auxiliary("trainers send their batches to the other heter workers", "REGATTA_HETER_WORKER_LIFETIME",
          HeterVariables.NAMES, HeterVariables::read));

  /**
   * The names of a role.
   *
   * @param word in PaddlePaddle's lines
   * @param called in our messages, singular
   * @param log of its log without the point and its number on the machine
   * @param remoteLog of its log in a workspace on another machine
   */
  private record Names(String word, String called, String log, String remoteLog) {}

  /**
   * The options of a launch that choose the processes of a role.
   *
   * @param number of them on this machine
   * @param places of them on all machines
   */
  private record Choice(LaunchOption number, LaunchOption places) {}

  /**
   * The part in a job that variables give to a process.
   *
   * @param trainingRole value of {@code TRAINING_ROLE}
   * @param role the role that it stands for
   * @param lists variables with the places of all processes of the role: that which a launch sets, and its other names
   * @param endpointsKey key of these places
   * @param countKey key of their number
   * @param gpus variable for the key of its GPUs; empty: it computes nothing
   */
  private record Part(String trainingRole, Role role, List<String> lists, String endpointsKey, String countKey,
      String gpus) {}

  /**
   * The properties of an auxiliary service.
   *
   * @param whenLost the effect of the loss of one while others of its role remain, for a message; empty: the job ends
   * @param lifetime variable that is set to {@code job} if trainers of other machines use it: then it ends with the job
   * @param variables more variables that the role reads
   * @param reader of these
   */
  private record Auxiliary(String whenLost, String lifetime, List<String> variables, AuxiliaryVariables reader) {}

  private final Names names;
  private final Choice choice;
  private final Part part;
  private final Auxiliary auxiliary;

  LaunchedRole(Names names, Choice choice, Part part, Auxiliary auxiliary) {
    this.names = names;
    this.choice = choice;
    this.part = part;
    this.auxiliary = auxiliary;
  }

  /** Returns the roles whose processes have a part in a job with parameter servers: all but the master. */
  public static List<LaunchedRole> parts() {
    return Arrays.stream(values()).filter(role -> role.part != null).toList();
  }

  /** Returns the auxiliary services. */
  public static List<LaunchedRole> auxiliaries() {
    return Arrays.stream(values()).filter(LaunchedRole::isAuxiliary).toList();
  }

  /** Returns all roles in the order in which their processes are ended: workers, then those that were started last. */
  public static List<LaunchedRole> inOrderOfEnd() {
    return Stream.concat(Stream.of(WORKER), Arrays.stream(values()).filter(role -> role != WORKER)
        .sorted(Comparator.reverseOrder())).toList();
  }

  /** Returns the name in PaddlePaddle's lines. */
  public String word() {
    return names.word();
  }

  /** Returns the name of a process in lines of the launcher. */
  public String inWords() {
    return names.word().replace('_', ' ');
  }

  /** Returns the name in our messages, singular. */
  public String called() {
    return names.called();
  }

  /** Returns the name of its log without the point and its number on the machine. */
  public String log() {
    return names.log();
  }

  /** Returns the name of its log in a workspace on another machine. */
  public String remoteLog() {
    return names.remoteLog();
  }

  /** Returns the option for the number of processes on this machine. Not of the master. */
  public LaunchOption number() {
    return choice.number();
  }

  /** Returns the option for the places of the processes on all machines. Not of the master. */
  public LaunchOption places() {
    return choice.places();
  }

  /** Returns the value of {@code TRAINING_ROLE}. Not of the master. */
  public String trainingRole() {
    return part.trainingRole();
  }

  /** Returns the role of its processes. Not of the master. */
  public Role role() {
    return part.role();
  }

  /** Returns the variable in which a launch gives all processes the places of this role's. Not of the master. */
  public String list() {
    return part.lists().get(0);
  }

  /** Returns all names of {@link #list}. */
  List<String> lists() {
    return part.lists();
  }

  /** Returns the key of the fixed places of this role's processes. Not of the master. */
  public String endpointsKey() {
    return part.endpointsKey();
  }

  /** Returns the key of a job for the number of its processes with this role. Not of the master. */
  public String countKey() {
    return part.countKey();
  }

  /** Returns true for a role of PaddlePaddle's, which its launchers show also in jobs without it. */
  public boolean isOfPaddle() {
    return list().startsWith("PADDLE_");
  }

  /** Returns the variable for the key of its GPUs; empty: it computes nothing. */
  public String gpus() {
    return part == null ? "" : part.gpus();
  }

  /** Returns true for processes that serve trainers beside the servers, and of which a job may have none. */
  public boolean isAuxiliary() {
    return auxiliary != null;
  }

  /** Returns the effect of the loss of an auxiliary service while others remain, for a message; empty: the job ends. */
  public String whenLost() {
    return auxiliary == null ? "" : auxiliary.whenLost();
  }

  /** Returns the variable that lets an auxiliary service end with the job; empty: there is none. */
  public String lifetime() {
    return auxiliary == null ? "" : auxiliary.lifetime();
  }

  /** Returns the names of the variables that an auxiliary service reads beside those of all roles. */
  List<String> ownVariables() {
    return auxiliary == null ? List.of() : auxiliary.variables();
  }

  /** Returns the reader of {@link #ownVariables}. */
  AuxiliaryVariables reader() {
    return auxiliary.reader();
  }
}
