package io.regatta.fleet.command.option;

import io.regatta.fleet.process.Service.Auxiliary;
import io.regatta.fleet.process.Service;
import io.regatta.fleet.process.Services;
import io.regatta.node.directory.Directory;
import io.regatta.node.settings.Settings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options for finding the services of a cluster: through Hazelcast, or at fixed endpoints. */
public final class ClusterOptions {

  @Option(names = "--seeds", paramLabel = "HOST:PORT,...", description = "Hazelcast members to join through")
  private String seeds;

  @Option(names = "--server-endpoints", paramLabel = "HOST:PORT,...",
      description = "fixed control ports of the servers, instead of Hazelcast")
  private String serverEndpoints;

  @Mixin
  private CommandSpec auxiliaries = AuxiliaryOptions.of(Auxiliary::endpointsOption, "HOST:PORT,...",
      auxiliary -> "fixed ports of the " + auxiliary.launched().called() + "s");

  @Option(names = "--rendezvous-endpoint", paramLabel = "HOST:PORT", description = "fixed rendezvous")
  private String rendezvousEndpoint;

  /** Returns the endpoints that were given, by the services' names. */
  public Map<String, String> endpoints() {
    Map<String, String> endpoints = new HashMap<>();
    endpoints.put(Directory.PARAMETER_SERVER, serverEndpoints);
    endpoints.put(Directory.RENDEZVOUS, rendezvousEndpoint);
    Services.auxiliaries().forEach(service -> endpoints.put(service.name(), endpoints(service.auxiliary())));
    endpoints.values().removeIf(Objects::isNull);
    return endpoints;
  }

  private String endpoints(Auxiliary<?> auxiliary) {
    return auxiliaries.findOption(auxiliary.endpointsOption()).getValue();
  }

  /** Adds the options that were given, as keys of the sections {@code fleet} and {@code node}. */
  void addTo(List<Settings.Option> given) {
    SettingsOptions.add(given, "--server-endpoints", "fleet.server_endpoints", serverEndpoints);
    Services.auxiliaries().stream().map(Service::auxiliary).forEach(auxiliary ->
        SettingsOptions.add(given, auxiliary.endpointsOption(), auxiliary.launched().endpointsKey(),
            endpoints(auxiliary)));
    SettingsOptions.add(given, "--rendezvous-endpoint", "fleet.rendezvous_endpoint", rendezvousEndpoint);
    addSeeds(given);
  }

  /** Adds {@code --seeds}, if it was given. */
  public void addSeeds(List<Settings.Option> given) {
    SettingsOptions.add(given, "--seeds", "node.cluster.seeds", seeds);
  }
}
