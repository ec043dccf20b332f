package io.regatta.fleet.command;

import io.regatta.aggregator.AggregatorMain;
import io.regatta.parameterserver.ParameterServerMain;
import io.regatta.predictor.PredictorMain;
import io.regatta.rendezvous.RendezvousMain;
import io.regatta.trainer.TrainerMain;
import io.regatta.training.TrainingProgram;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The services as commands: {@code regatta pserver -conf FILE} is {@code java -jar parameter-server.jar -conf FILE}. */
final class ServiceRoles {

  private static final Map<String, String> ROLES = new TreeMap<>(Map.of(
      "rendezvous", RendezvousMain.DESCRIPTION,
      "pserver", ParameterServerMain.DESCRIPTION,
      "aggregator", AggregatorMain.DESCRIPTION,
      "trainer", TrainerMain.DESCRIPTION,
      "serve", PredictorMain.DESCRIPTION));

  private ServiceRoles() {}

  static Map<String, String> descriptions() {
    return ROLES;
  }

  /** Runs a service until it ends, and then the JVM. */
  static void run(String role, TrainingProgram program, List<String> arguments) {
    String[] args = arguments.toArray(String[]::new);
    String command = "regatta " + role;
    switch (role) {
      case "rendezvous" -> RendezvousMain.run(command, args);
      case "pserver" -> ParameterServerMain.run(command, args);
      case "aggregator" -> AggregatorMain.run(command, args);
      case "trainer" -> TrainerMain.run(command, args, program);
      case "serve" -> PredictorMain.run(command, args);
      default -> throw new IllegalArgumentException(role);
    }
  }
}
