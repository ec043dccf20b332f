package io.regatta.fleet;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.node.Directory;
import io.regatta.node.ServiceMain;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerMain;
import io.regatta.trainer.TrainingProgram;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The services as commands: {@code regatta pserver -conf FILE} is {@code java -jar parameter-server.jar -conf FILE}. */
final class ServiceRoles {

  private static final Map<String, String> ROLES = new TreeMap<>(Map.of(
      "rendezvous", "Runs a rendezvous: who is in the group.",
      "pserver", "Runs a parameter server with its shards.",
      "aggregator", "Runs this host's gradient aggregator.",
      "trainer", "Runs a trainer as configured by -conf."));

  private ServiceRoles() {}

  static Map<String, String> descriptions() {
    return ROLES;
  }

  /** Runs a service until it ends, and then the JVM. */
  static void run(String role, TrainingProgram program, List<String> arguments) {
    String[] args = arguments.toArray(String[]::new);
    switch (role) {
      case "rendezvous" ->
          ServiceMain.run(args, Directory.RENDEZVOUS, RendezvousConfig.class, RendezvousVerticle::new);
      case "pserver" -> ServiceMain.run(args, Directory.PARAMETER_SERVER, ParameterServerConfig.class,
          ParameterServerVerticle::new);
      case "aggregator" -> ServiceMain.run(args, Directory.GRADIENT_AGGREGATOR, AggregatorConfig.class,
          AggregatorVerticle::new);
      case "trainer" -> TrainerMain.run(args, program);
      default -> throw new IllegalArgumentException(role);
    }
  }
}
