package io.regatta.fleet.command.option;

import io.regatta.node.settings.Settings;
import java.util.List;
import picocli.CommandLine.Option;

/** The options for finding the services of a cluster: through Hazelcast, or at fixed endpoints. */
public final class ClusterOptions {

  @Option(names = "--seeds", paramLabel = "HOST:PORT,...", description = "Hazelcast members to join through")
  private String seeds;

  @Option(names = "--server-endpoints", paramLabel = "HOST:PORT,...",
      description = "fixed control ports of the servers, instead of Hazelcast")
  private String serverEndpoints;

  @Option(names = "--heter-endpoints", paramLabel = "HOST:PORT,...", description = "fixed ports of the heter workers")
  private String heterEndpoints;

  @Option(names = "--rendezvous-endpoint", paramLabel = "HOST:PORT", description = "fixed rendezvous")
  private String rendezvousEndpoint;

  /** Returns the servers' endpoints; null: not given. */
  public String serverEndpoints() {
    return serverEndpoints;
  }

  /** Returns the heter workers' endpoints; null: not given. */
  public String heterEndpoints() {
    return heterEndpoints;
  }

  /** Returns the rendezvous' endpoint; null: not given. */
  public String rendezvousEndpoint() {
    return rendezvousEndpoint;
  }

  /** Adds the options that were given, as keys of the sections {@code fleet} and {@code node}. */
  void addTo(List<Settings.Option> given) {
    SettingsOptions.add(given, "--server-endpoints", "fleet.server_endpoints", serverEndpoints);
    SettingsOptions.add(given, "--heter-endpoints", "fleet.heter_endpoints", heterEndpoints);
    SettingsOptions.add(given, "--rendezvous-endpoint", "fleet.rendezvous_endpoint", rendezvousEndpoint);
    addSeeds(given);
  }

  /** Adds {@code --seeds}, if it was given. */
  public void addSeeds(List<Settings.Option> given) {
    SettingsOptions.add(given, "--seeds", "node.cluster.seeds", seeds);
  }
}
