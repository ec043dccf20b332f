package io.regatta.fleet;

import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** This process's place in a fleet on a command line: short for keys of the sections {@code fleet} and {@code node}. */
final class FleetOptions {

  @Option(names = "--role", paramLabel = "ROLE", description = "local, trainer, pserver, aggregator or rendezvous")
  private String role;

  @Option(names = {"--id", "--rank"}, paramLabel = "N", description = "rank of a trainer, index of a server")
  private String id;

  @Option(names = "--seeds", paramLabel = "HOST:PORT,...", description = "Hazelcast members to join through")
  private String seeds;

  @Option(names = "--server-endpoints", paramLabel = "HOST:PORT,...",
      description = "fixed control ports of the servers, instead of Hazelcast")
  private String serverEndpoints;

  @Option(names = "--rendezvous-endpoint", paramLabel = "HOST:PORT", description = "fixed rendezvous")
  private String rendezvousEndpoint;

  /**
   * @param settings {@code -conf} and {@code --set}
   * @param readyTimeout seconds, null: as configured
   * @param code values given by the program, nested as in a file
   */
  Place load(SettingsOptions settings, Integer readyTimeout, JsonObject code) {
    return Place.load(settings.conf(), overrides(readyTimeout, settings.sectionKeys()), code);
  }

  private List<String> overrides(Integer readyTimeout, List<String> keys) {
    List<String> all = new ArrayList<>();
    SettingsOptions.add(all, "fleet.role", role);
    SettingsOptions.add(all, "fleet.id", id);
    SettingsOptions.add(all, "fleet.server_endpoints", serverEndpoints);
    SettingsOptions.add(all, "fleet.rendezvous_endpoint", rendezvousEndpoint);
    SettingsOptions.add(all, "node.cluster.seeds", seeds);
    SettingsOptions.add(all, "node.ready_timeout_seconds", readyTimeout);
    all.addAll(keys);
    return all;
  }
}
