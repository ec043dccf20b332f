package io.regatta.fleet.role;

import io.regatta.node.address.HostPort;
import java.util.List;

/** The variables of Fluid's distribute transpiler: one port for all servers, hosts as a list. */
final class TranspilerVariables {

  private static final String ROLE = "PADDLE_TRAINING_ROLE";
  private static final String IPS = "PADDLE_PSERVER_IPS";
  private static final String PORT = "PADDLE_PSERVER_PORT";
  private static final String TRAINERS = "PADDLE_TRAINERS";
  private static final String IP = "PADDLE_CURRENT_IP";
  private static final String ID = "PADDLE_TRAINER_ID";

  private TranspilerVariables() {}

  /**
   * Returns those that are set. {@code PADDLE_TRAINERS} alone does not count beside later ones: Kubernetes' operator
   * for PaddlePaddle gives it with those, as a list of hosts.
   */
  static List<String> set(EnvironmentVariables variables) {
    List<String> own = variables.set(IPS, PORT, IP);
    boolean later = !variables.set("TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_TRAINER_ENDPOINTS", "PADDLE_MASTER").isEmpty();
    return own.isEmpty() && later ? own : variables.set(IPS, PORT, TRAINERS, IP);
  }

  static void read(EnvironmentVariables variables, EnvironmentReadings found) {
    int port = variables.port(PORT, 6174);
    List<String> hosts = variables.hosts(IPS, variables.required(IPS), PORT);
    List<String> servers = hosts.stream().map(host -> new HostPort(host, port).toString()).toList();
    found.key(IPS, String.join(",", hosts), "fleet.server_endpoints", String.join(",", servers));
    found.implied(IPS, "servers", servers.size());
    if (variables.has(PORT)) {
      found.reading(PORT, Integer.toString(port), "port of every server");
    }
    int trainers = variables.required(TRAINERS, 1);
    found.key(TRAINERS, Integer.toString(trainers), "trainers", trainers);
    String role = variables.required(ROLE);
    switch (role) {
      case "TRAINER" -> {
        found.key(ROLE, role, "fleet.role", "trainer");
        int id = variables.within(ID, variables.number(ID, 0, 0), trainers, TRAINERS);
        found.key(ID, variables.text(ID, "0"), "fleet.id", id);
      }
      case "PSERVER" -> {
        found.key(ROLE, role, "fleet.role", "pserver");
        String host = variables.host(IP, variables.required(IP), PORT);
        int index = hosts.indexOf(host);
        if (index < 0 && variables.areRight(IP, IPS)) {
          variables.wrong(IP, IP + " says that this server is " + host + ", which is none of " + IPS + " = "
              + String.join(",", hosts) + ", please check your environment.", host);
        }
        found.key(IP, host, "node.host", host);
        found.implied(IP, "fleet.id", index);
      }
      default -> noRole(variables, role);
    }
  }

  /** Refuses a role without servers, unless it is a trainer's, which trains alone. */
  static void checkRole(EnvironmentVariables variables) {
    String role = variables.text(ROLE, "TRAINER");
    switch (role) {
      case "TRAINER" -> { }
      case "PSERVER" -> variables.wrong(IPS, "Can not find " + IPS + ", please check your environment. " + ROLE + " is " + role
          + ", and a server is one of that list", role);
      default -> noRole(variables, role);
    }
  }

  private static void noRole(EnvironmentVariables variables, String role) {
    variables.wrong(ROLE, ROLE + " should be one of [TRAINER, PSERVER], but is " + role + ", please check your environment.", role);
  }
}
