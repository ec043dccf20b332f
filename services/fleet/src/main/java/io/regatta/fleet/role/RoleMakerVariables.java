package io.regatta.fleet.role;

import io.regatta.node.address.HostPort;
import java.util.List;
import java.util.Locale;

/**
 * The variables of Fleet's {@code PaddleCloudRoleMaker} (PaddlePaddle 2.0): one set for parameter servers and their
 * trainers, one for trainers that exchange among themselves. Rules, defaults and messages are those of
 * {@code role_maker.py}; where it lets a contradiction pass, this refuses it.
 */
final class RoleMakerVariables {

  private static final String SERVERS = "PADDLE_PSERVERS_IP_PORT_LIST";
  private static final String ROLE = "TRAINING_ROLE";
  private static final String COLLECTIVE_ROLE = "PADDLE_TRAINING_ROLE";
  private static final String TRAINERS = "PADDLE_TRAINERS_NUM";
  private static final String ID = "PADDLE_TRAINER_ID";
  private static final String TRAINER_ENDPOINTS = "PADDLE_TRAINER_ENDPOINTS";
  private static final String HETER_WORKERS = "PADDLE_HETER_TRAINER_IP_PORT_LIST";
  /** The name of the same list from PaddlePaddle 2.2 on, which has several stages. */
  private static final String ALL_HETER_WORKERS = "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST";
  private static final String HETER_DEVICE = "HETER_DEVICE_TYPE";
  private static final String HETER_ROLE = "HETER_TRAINER";
  /** The stages of a network: the trainers', and the heter workers'. */
  private static final int MOST_STAGES = 2;
  private static final String IP = "POD_IP";
  private static final String PORT = "PADDLE_PORT";
  private static final String STAGE = "STAGE_ID";
  private static final String STAGES = "STAGE_NUM";

  private RoleMakerVariables() {}

  /**
   * Reads the variables of a job with parameter servers.
   *
   * @return false: without servers it is no part of a job, as in Paddle, which calls it non-distributed
   */
  static boolean parameterServer(EnvironmentVariables variables, EnvironmentReadings found) {
    if (!variables.has(SERVERS)) {
      String role = trainerWithoutServers(variables);
      found.reading(ROLE, role, "none: " + SERVERS + " is not set");
      found.note(ROLE + " is TRAINER, but " + SERVERS + " is not set: this process is not distributed, and trains alone");
      return false;
    }
    List<String> servers = variables.endpoints(SERVERS);
    found.key(SERVERS, String.join(",", servers), "fleet.server_endpoints", String.join(",", servers));
    found.implied(SERVERS, "servers", servers.size());
    int trainers = variables.required(TRAINERS, 1);
    found.key(TRAINERS, Integer.toString(trainers), "trainers", trainers);
    String role = role(variables);
    List<String> heterWorkers = heterWorkers(variables, found, role.equals(HETER_ROLE));
    switch (role) {
      case "TRAINER" -> trainer(variables, found, trainers);
      case HETER_ROLE -> atPlace(variables, found, role, "heter_worker", "heter worker", HETER_WORKERS, heterWorkers);
      default -> atPlace(variables, found, role, "pserver", "server", SERVERS, servers);
    }
    GlooVariables.read(variables, found, true);
    return true;
  }

  /**
   * Reads the list of heter workers, and what goes with it.
   *
   * @param needed whether this process is one of them
   * @return them; empty: the job has none
   */
  private static List<String> heterWorkers(EnvironmentVariables variables, EnvironmentReadings found, boolean needed) {
    List<String> lists = variables.set(HETER_WORKERS, ALL_HETER_WORKERS);
    if (lists.isEmpty()) {
      return needed ? variables.endpoints(HETER_WORKERS) : List.of();
    }
    List<String> workers = variables.endpoints(lists.get(0));
    if (lists.size() > 1 && !variables.endpoints(lists.get(1)).equals(workers)) {
      variables.wrong(lists.get(1), lists.get(1) + " is " + variables.text(lists.get(1)) + ", but " + lists.get(0)
          + " is "
          + variables.text(lists.get(0)) + ": they name the same heter workers, please check your environment.",
          workers);
    }
    found.key(lists.get(0), String.join(",", workers), "fleet.heter_endpoints", String.join(",", workers));
    found.implied(lists.get(0), "heter.workers", workers.size());
    stages(variables, found, needed);
    if (variables.has(HETER_DEVICE)) {
      String device = variables.text(HETER_DEVICE).toLowerCase(Locale.ROOT);
      found.key(HETER_DEVICE, device, "heter.device", switch (device) {
        case "cpu" -> "cpu";
        case "gpu" -> "gpu:0";
        default -> variables.wrong(HETER_DEVICE, HETER_DEVICE + " must be cpu or gpu, but is \""
            + variables.text(HETER_DEVICE)
            + "\", please check your environment.", "cpu");
      });
    }
    return workers;
  }

  /** Refuses more stages than a network with one cut has. */
  private static void stages(EnvironmentVariables variables, EnvironmentReadings found, boolean heterWorker) {
    if (variables.has(STAGES)) {
      int stages = variables.number(STAGES, 1, MOST_STAGES);
      if (stages > MOST_STAGES) {
        variables.wrong(STAGES, STAGES + " is " + stages + ", but a network has one cut, and so " + MOST_STAGES
            + " stages: the trainers' and the heter workers', please check your environment.", stages);
      }
      found.reading(STAGES, variables.text(STAGES), "agrees with " + ROLE + ": one cut");
    }
    if (variables.has(STAGE)) {
      int expected = heterWorker ? MOST_STAGES : 1;
      int stage = variables.number(STAGE, 0, expected);
      if (variables.areRight(STAGE) && stage != expected) {
        variables.wrong(STAGE, STAGE + " is " + stage + ", but of a network with one cut " + (heterWorker
            ? "heter workers have stage 2"
            : "trainers have stage 1") + ", please check your environment.", stage);
      }
      found.reading(STAGE, variables.text(STAGE), "agrees with " + ROLE);
    }
  }

  /** Returns {@code TRAINER}, {@code PSERVER} or {@code HETER_TRAINER}. */
  private static String role(EnvironmentVariables variables) {
    String role = variables.required(ROLE);
    return switch (role) {
      case "TRAINER", "PSERVER", HETER_ROLE -> role;
      case "COORDINATOR" -> variables.wrong(ROLE, ROLE + " is " + role
          + ", which is no role here: start this process as TRAINER, PSERVER or HETER_TRAINER", "TRAINER");
      default -> variables.wrong(ROLE, "TRAINING_ROLE must be PSERVER or TRAINER or HETER_TRAINER, but get " + role
          + ", please check your environment.", "TRAINER");
    };
  }

  private static String trainerWithoutServers(EnvironmentVariables variables) {
    String role = role(variables);
    if (!role.equals("TRAINER")) {
      variables.wrong(SERVERS, "Can not find " + SERVERS + ", please check your environment. " + ROLE + " is " + role
          + (role.equals(HETER_ROLE) ? ", and heter workers are part of a job with servers"
          : ", and a server is one of that list"), role);
    }
    return role;
  }

  /**
   * Refuses a role other than a trainer's in a collective job.
   *
   * @param by the variable that says that the job is collective
   */
  static void trainersOnly(EnvironmentVariables variables, EnvironmentReadings found, String by) {
    if (variables.has(ROLE)) {
      found.reading(ROLE, trainerWithoutServers(variables), "agrees with " + by + ": all are trainers");
    }
    String role = variables.text(COLLECTIVE_ROLE, "TRAINER");
    if (!role.equals("TRAINER")) {
      variables.wrong(COLLECTIVE_ROLE, COLLECTIVE_ROLE + " is " + role + ", but with " + by + " and without " + SERVERS
          + " all are trainers: it must be TRAINER, please check your environment.", role);
    }
    if (variables.has(COLLECTIVE_ROLE)) {
      found.reading(COLLECTIVE_ROLE, role, "agrees with " + by + ": all are trainers");
    }
  }

  private static void trainer(EnvironmentVariables variables, EnvironmentReadings found, int trainers) {
    found.key(ROLE, "TRAINER", "fleet.role", "trainer");
    int id = variables.within(ID, variables.required(ID, 0), trainers, TRAINERS);
    found.key(ID, Integer.toString(id), "fleet.id", id);
    if (variables.has(TRAINER_ENDPOINTS)) {
      List<String> endpoints = variables.endpoints(TRAINER_ENDPOINTS);
      sameCount(variables, endpoints, trainers);
      found.key(TRAINER_ENDPOINTS, String.join(",", endpoints), "fleet.endpoint", endpoints.get(Math.min(id, endpoints.size() - 1)));
    }
    if (variables.has(IP)) {
      found.key(IP, variables.text(IP), "node.host", variables.text(IP));
    }
  }

  /** Reads the place of a process that is one of a list. */
  private static void atPlace(EnvironmentVariables variables, EnvironmentReadings found, String role, String key,
      String word,
      String list, List<String> places) {
    found.key(ROLE, role, "fleet.role", key);
    String host = variables.host(IP, variables.required(IP), PORT);
    variables.required(PORT);
    int port = variables.port(PORT, 0);
    if (!variables.areRight(IP, PORT, list)) {
      return;
    }
    HostPort own = new HostPort(host, port);
    int index = places.stream().map(place -> HostPort.parse(place, list)).toList().indexOf(own);
    if (index < 0) {
      variables.wrong(IP, IP + " and " + PORT + " say that this " + word + " is " + own + ", which is none of "
          + list + " = " + String.join(",", places) + ", please check your environment.", host);
    }
    found.key(IP, host, "node.host", host);
    found.key(PORT, Integer.toString(port), "fleet.id", index);
  }

  /**
   * Reads the variables of a collective job.
   *
   * @return false: nothing follows for a single trainer, as in Paddle, which calls it non-distributed
   */
  static boolean collective(EnvironmentVariables variables, EnvironmentReadings found) {
    List<String> endpoints = variables.endpoints(TRAINER_ENDPOINTS);
    trainersOnly(variables, found, TRAINER_ENDPOINTS);
    int count = variables.number(TRAINERS, 1, endpoints.size());
    sameCount(variables, endpoints, count);
    int id = variables.within(ID, variables.number(ID, 0, 0), endpoints.size(), TRAINER_ENDPOINTS);
    if (endpoints.size() == 1) {
      found.reading(TRAINER_ENDPOINTS, endpoints.get(0), "none: a single trainer is not distributed");
      return false;
    }
    found.key(TRAINER_ENDPOINTS, String.join(",", endpoints), "fleet.trainer_endpoints", String.join(",", endpoints));
    found.implied(TRAINER_ENDPOINTS, "trainers", count);
    found.implied(TRAINER_ENDPOINTS, "mode", "collective");
    found.implied(TRAINER_ENDPOINTS, "servers", 0);
    found.implied(TRAINER_ENDPOINTS, "fleet.role", "trainer");
    if (variables.areRight(TRAINER_ENDPOINTS)) {
      found.implied(TRAINER_ENDPOINTS, "node.host", HostPort.parse(endpoints.get(id), TRAINER_ENDPOINTS).host());
    }
    if (variables.has(TRAINERS)) {
      found.reading(TRAINERS, variables.text(TRAINERS), "agrees with " + TRAINER_ENDPOINTS);
    }
    found.key(ID, variables.text(ID, "0"), "fleet.id", id);
    String current = variables.text("PADDLE_CURRENT_ENDPOINT");
    if (current != null && variables.areRight(ID, TRAINER_ENDPOINTS) && !current.equals(endpoints.get(id))) {
      variables.wrong("PADDLE_CURRENT_ENDPOINT", "PADDLE_CURRENT_ENDPOINT is " + current + ", but " + ID + " " + id + " of "
          + TRAINER_ENDPOINTS + " is " + endpoints.get(id) + ", please check your environment.", current);
    }
    if (current != null) {
      found.reading("PADDLE_CURRENT_ENDPOINT", current, "agrees with " + TRAINER_ENDPOINTS);
    }
    GlooVariables.read(variables, found, false);
    return true;
  }

  private static void sameCount(EnvironmentVariables variables, List<String> endpoints, int trainers) {
    if (endpoints.size() != trainers && variables.areRight(TRAINERS, TRAINER_ENDPOINTS)) {
      variables.wrong(TRAINERS, TRAINERS + " is " + trainers + ", but " + TRAINER_ENDPOINTS + " has " + endpoints.size() + ": "
          + String.join(",", endpoints) + ", please check your environment.", trainers);
    }
  }
}
