package io.regatta.fleet.command;

import io.regatta.fleet.process.Service;
import io.regatta.fleet.process.Services;
import io.regatta.training.TrainingProgram;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The services as commands: {@code regatta pserver -conf FILE} is {@code java -jar parameter-server.jar -conf FILE}. */
final class ServiceRoles {

  private ServiceRoles() {}

  /** Returns the purpose of each, by its command. */
  static Map<String, String> descriptions() {
    Map<String, String> descriptions = new TreeMap<>();
    Services.all().forEach(service -> descriptions.put(service.command(), service.description()));
    return descriptions;
  }

  /** Runs a service until it ends, and then the JVM. */
  static void run(String command, TrainingProgram program, List<String> arguments) {
    Service<?> called = Services.all().stream().filter(service -> service.command().equals(command)).findFirst().orElseThrow();
    called.main().run("regatta " + command, arguments.toArray(String[]::new), program);
  }
}
