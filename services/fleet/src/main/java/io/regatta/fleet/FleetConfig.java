package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.settings.Setting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** This process's place in a fleet: the section {@code fleet}. Immutable. */
public record FleetConfig(
    @Setting(value = "local", doc = "What this process does.")
    Role role,

    @Setting(value = "-1", doc = "Rank of a trainer, index of a server; -1: any that is free.")
    int id,

    @Setting(doc = "Control ports of the parameter servers by index, host:port each. Empty: found in the directory, "
        + "their number as the job file says.")
    List<String> serverEndpoints,

    @Setting(doc = "host:port of the rendezvous. Empty: found in the directory.")
    String rendezvousEndpoint,

    @Setting(doc = "host:port that a trainer announces to the other trainers; may be empty.")
    String endpoint) {

  public FleetConfig {
    serverEndpoints = List.copyOf(serverEndpoints);
    if (serverEndpoints.isEmpty() != rendezvousEndpoint.isEmpty()) {
      throw new InvalidInput("server_endpoints and rendezvous_endpoint go together: give both, and nothing "
          + "is looked up, or none, and both are found through the Hazelcast cluster");
    }
    if (role == Role.PSERVER && !serverEndpoints.isEmpty() && (id < 0 || id >= serverEndpoints.size())) {
      throw new InvalidInput("id " + id + " is no place in server_endpoints, which has "
          + serverEndpoints.size() + ": a server with fixed endpoints needs its index");
    }
  }

  /** The node section, with the endpoints given here as its fixed directory if there are any. */
  NodeConfig directory(NodeConfig node) {
    if (serverEndpoints.isEmpty()) {
      return node;
    }
    Map<String, String> endpoints = new HashMap<>(node.cluster().endpoints());
    endpoints.put(Directory.PARAMETER_SERVER, String.join(",", serverEndpoints));
    endpoints.put(Directory.RENDEZVOUS, rendezvousEndpoint);
    return node.withCluster(ClusterConfig.fixed(endpoints));
  }
}
