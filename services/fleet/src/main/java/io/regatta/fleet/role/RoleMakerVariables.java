package io.regatta.fleet.role;

import io.regatta.node.address.HostPort;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
  private static final String IP = "POD_IP";
  private static final String PORT = "PADDLE_PORT";

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
    LaunchedRole role = role(variables);
    Map<LaunchedRole, List<String>> auxiliaries = new EnumMap<>(LaunchedRole.class);
    LaunchedRole.auxiliaries().forEach(auxiliary -> auxiliaries.put(auxiliary,
        auxiliaries(variables, found, auxiliary, role == auxiliary)));
    switch (role) {
      case WORKER -> trainer(variables, found, trainers);
      case SERVER -> atPlace(variables, found, role, servers);
      default -> atPlace(variables, found, role, auxiliaries.get(role));
    }
    GlooVariables.read(variables, found, true);
    return true;
  }

  /**
   * Reads the list of a job's auxiliary services, and the variables that belong to it.
   *
   * @param needed whether this process is one of them
   * @return their places; empty: the job has none
   */
  private static List<String> auxiliaries(EnvironmentVariables variables, EnvironmentReadings found,
      LaunchedRole auxiliary,
      boolean needed) {
    List<String> lists = variables.set(auxiliary.lists().toArray(String[]::new));
    if (lists.isEmpty()) {
      return needed ? variables.endpoints(auxiliary.list()) : List.of();
    }
    List<String> places = variables.endpoints(lists.get(0));
    for (String other : lists.subList(1, lists.size())) {
      if (!variables.endpoints(other).equals(places)) {
        variables.wrong(other, other + " is " + variables.text(other) + ", but " + lists.get(0) + " is "
            + variables.text(lists.get(0)) + ": they name the same " + auxiliary.called()
            + "s, please check your environment.",
            places);
      }
    }
    found.key(lists.get(0), String.join(",", places), auxiliary.endpointsKey(), String.join(",", places));
    found.implied(lists.get(0), auxiliary.countKey(), places.size());
    auxiliary.reader().read(variables, found, needed);
    return places;
  }

  private static LaunchedRole role(EnvironmentVariables variables) {
    String role = variables.required(ROLE);
    List<LaunchedRole> all = LaunchedRole.parts();
    return all.stream().filter(each -> each.trainingRole().equals(role)).findFirst()
        .orElseGet(() -> role.equals("COORDINATOR")
        ? variables.wrong(ROLE, ROLE + " is " + role + ", which is no role here: start this process as "
        + WordList.or(Stream.concat(Stream.of(LaunchedRole.WORKER), all.stream()
        .filter(each -> each != LaunchedRole.WORKER))
        .map(LaunchedRole::trainingRole).toList()), LaunchedRole.WORKER)
        : variables.wrong(ROLE, "TRAINING_ROLE must be " + all.stream().map(LaunchedRole::trainingRole)
        .collect(Collectors.joining(" or ")) + ", but get " + role + ", please check your environment.",
        LaunchedRole.WORKER));
  }

  private static String trainerWithoutServers(EnvironmentVariables variables) {
    LaunchedRole role = role(variables);
    if (role != LaunchedRole.WORKER) {
      variables.wrong(SERVERS, "Can not find " + SERVERS + ", please check your environment. " + ROLE + " is "
          + role.trainingRole() + (role.isAuxiliary() ? ", and " + role.called() + "s are part of a job with servers"
          : ", and a server is one of that list"), role);
    }
    return role.trainingRole();
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
  private static void atPlace(EnvironmentVariables variables, EnvironmentReadings found, LaunchedRole role,
      List<String> places) {
    String list = role.list();
    found.key(ROLE, role.trainingRole(), "fleet.role", role.role().configName());
    String host = variables.host(IP, variables.required(IP), PORT);
    variables.required(PORT);
    int port = variables.port(PORT, 0);
    if (!variables.areRight(IP, PORT, list)) {
      return;
    }
    HostPort own = new HostPort(host, port);
    int index = places.stream().map(place -> HostPort.parse(place, list)).toList().indexOf(own);
    if (index < 0) {
      variables.wrong(IP, IP + " and " + PORT + " say that this " + role.called() + " is " + own + ", which is none of "
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
