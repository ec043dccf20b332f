package io.regatta.fleet.role;

import io.regatta.node.address.HostPort;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The variables {@code PADDLE_INIT_*} of v2's {@code paddle.init}: trainers only, whose servers all have the same
 * ports. {@code PORTS_NUM} and, after them, {@code PORTS_NUM_FOR_SPARSE} are consecutive ports, each a shard. The
 * latter, if there are any, hold sparse tables only, and the former dense parameters only. {@code TRAINER_COUNT} is the
 * number of threads of one trainer.
 */
final class InitVariables {

  private static final String PREFIX = "PADDLE_INIT_";
  private static final Set<String> KNOWN = Set.of("USE_GPU", "TRAINER_COUNT", "PORT", "PORTS_NUM", "PORTS_NUM_FOR_SPARSE",
      "NUM_GRADIENT_SERVERS", "TRAINER_ID", "PSERVERS");

  private InitVariables() {}

  /**
   * Returns the environment with options that stand for variables of this kind: {@code --trainer_id} for {@code
   * PADDLE_INIT_TRAINER_ID}.
   */
  static EnvironmentVariables with(Map<String, String> environment, Map<String, String> arguments) {
    Map<String, String> options = new HashMap<>();
    arguments.keySet().forEach(name -> options.put(name, "--" + name.substring(PREFIX.length()).toLowerCase(Locale.ROOT)));
    return new EnvironmentVariables(environment, arguments, options);
  }

  static void read(EnvironmentVariables variables, EnvironmentReadings found) {
    for (String name : variables.beginningWith(PREFIX)) {
      if (!KNOWN.contains(name.substring(PREFIX.length()))) {
        variables.wrong(name, name + " is none of the variables " + PREFIX + "*: " + String.join(", ",
            KNOWN.stream().sorted().toList()) + "; unset it, or correct its name", name);
      }
    }
    int port = variables.port(PREFIX + "PORT", 7164);
    List<String> hosts = variables.hosts(PREFIX + "PSERVERS", variables.text(PREFIX + "PSERVERS", "127.0.0.1"), PREFIX + "PORT");
    List<String> servers = hosts.stream().map(host -> new HostPort(host, port).toString()).toList();
    found.key(PREFIX + "PSERVERS", String.join(",", hosts), "fleet.server_endpoints", String.join(",", servers));
    found.implied(PREFIX + "PSERVERS", "servers", servers.size());
    found.implied(PREFIX + "PSERVERS", "fleet.role", "trainer");
    found.reading(PREFIX + "PORT", variables.text(PREFIX + "PORT", "not set"), "first port of every server: " + port);
    int dense = variables.number(PREFIX + "PORTS_NUM", 1, 1);
    int sparse = variables.number(PREFIX + "PORTS_NUM_FOR_SPARSE", 0, 1);
    found.key(PREFIX + "PORTS_NUM", variables.text(PREFIX + "PORTS_NUM", "not set"), "shards", dense + sparse);
    found.key(PREFIX + "PORTS_NUM_FOR_SPARSE", variables.text(PREFIX + "PORTS_NUM_FOR_SPARSE", "not set"),
        "sparse_shards", sparse);
    int trainers = variables.number(PREFIX + "NUM_GRADIENT_SERVERS", 1, 1);
    found.key(PREFIX + "NUM_GRADIENT_SERVERS", variables.text(PREFIX + "NUM_GRADIENT_SERVERS", "not set"), "trainers", trainers);
    int id = variables.within(PREFIX + "TRAINER_ID", variables.number(PREFIX + "TRAINER_ID", 0, 0), trainers,
        PREFIX + "NUM_GRADIENT_SERVERS");
    found.key(PREFIX + "TRAINER_ID", variables.text(PREFIX + "TRAINER_ID", "not set"), "fleet.id", id);
    found.key(PREFIX + "TRAINER_COUNT", variables.text(PREFIX + "TRAINER_COUNT", "not set"), "threads",
        variables.number(PREFIX + "TRAINER_COUNT", 1, 1));
    device(variables, found);
  }

  /** Reads the variables that have an effect on a trainer that is alone as well. */
  static void alone(EnvironmentVariables variables, EnvironmentReadings found) {
    if (variables.has(PREFIX + "TRAINER_COUNT")) {
      found.key(PREFIX + "TRAINER_COUNT", variables.text(PREFIX + "TRAINER_COUNT"), "threads",
          variables.number(PREFIX + "TRAINER_COUNT", 1, 1));
    }
    device(variables, found);
    for (RoleEnvironment.Reading reading : found.readings()) {
      if (variables.called(reading.variable()).equals(reading.variable())) { // whoever types an option knows it
        found.note(reading.variable() + " is " + reading.value() + ": " + reading.meaning());
      }
    }
  }

  private static void device(EnvironmentVariables variables, EnvironmentReadings found) {
    if (variables.has(PREFIX + "USE_GPU")) {
      found.key(PREFIX + "USE_GPU", variables.text(PREFIX + "USE_GPU"), "device", variables.flag(PREFIX + "USE_GPU")
          ? "gpu:0" : "cpu");
    }
  }
}
