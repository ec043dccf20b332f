package io.regatta.fleet;

import io.regatta.node.Effective;
import io.regatta.node.NodeConfig;
import io.regatta.node.Schema;
import io.regatta.node.Settings;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** This process's place in a fleet on a command line: sections {@code fleet} and {@code node}. */
final class FleetOptions {

  /** Both sections, effective and checked. */
  record Place(FleetConfig fleet, NodeConfig node) {}

  @Option(names = {"-conf", "--conf"}, paramLabel = "FILE", description = "configuration of this process, with "
      + "sections fleet and node: .json, .yaml or .yml")
  private Path conf;

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

  @Option(names = "--set-node", paramLabel = "KEY=VALUE",
      description = "overrides any key of -conf, e.g. node.admin.port=9000")
  private List<String> keys = new ArrayList<>();

  /**
   * @param readyTimeout seconds, null: as configured
   * @param code values given by the program, nested as in a file
   */
  Place load(Integer readyTimeout, JsonObject code) {
    Map<String, Class<? extends Record>> sections = new LinkedHashMap<>();
    sections.put("fleet", FleetConfig.class);
    sections.put("node", NodeConfig.class);
    Settings.Sources sources = Settings.Sources.ofProcess(conf, overrides(readyTimeout)).without(OTHERS).withCode(code);
    Effective effective = JobFile.load(Schema.sections(sections), sources);
    Map<String, Object> bound = effective.bindSections();
    FleetConfig fleet = (FleetConfig) bound.get("fleet");
    return new Place(fleet, fleet.directory((NodeConfig) bound.get("node")));
  }

  /** Sections of a shared file that are other readers' business. */
  private static final List<String> OTHERS =
      List.of("rendezvous", "parameter_server", "gradient_aggregator", "trainer");

  private List<String> overrides(Integer readyTimeout) {
    List<String> all = new ArrayList<>();
    add(all, "fleet.role", role);
    add(all, "fleet.id", id);
    add(all, "fleet.server_endpoints", serverEndpoints);
    add(all, "fleet.rendezvous_endpoint", rendezvousEndpoint);
    add(all, "node.cluster.seeds", seeds);
    add(all, "node.ready_timeout_seconds", readyTimeout == null ? null : readyTimeout.toString());
    all.addAll(keys);
    return all;
  }

  private static void add(List<String> all, String key, String value) {
    if (value != null) {
      all.add(key + "=" + value);
    }
  }
}
