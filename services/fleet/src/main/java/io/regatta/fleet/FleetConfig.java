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

    @Setting(doc = "Collective jobs: host:port of every trainer by rank; the first one's is where the rendezvous is, which that "
        + "trainer hosts. Empty: the rendezvous is found otherwise.")
    List<String> trainerEndpoints,

    @Setting(doc = "host:port of the rendezvous. Empty: the first of server_endpoints, which serves it beside its shards, or of "
        + "trainer_endpoints; without those, found in the directory.")
    String rendezvousEndpoint,

    @Setting(doc = "host:port that a trainer announces to the other trainers; may be empty.")
    String endpoint) {

  public FleetConfig {
    serverEndpoints = List.copyOf(serverEndpoints);
    trainerEndpoints = List.copyOf(trainerEndpoints);
    if (!serverEndpoints.isEmpty() && !trainerEndpoints.isEmpty()) {
      throw new InvalidInput("server_endpoints and trainer_endpoints: a job has parameter servers, or its trainers exchange among "
          + "themselves; give one of the two");
    }
    if (rendezvousEndpoint.isEmpty()) {
      rendezvousEndpoint = !serverEndpoints.isEmpty() ? serverEndpoints.get(0)
          : !trainerEndpoints.isEmpty() ? trainerEndpoints.get(0) : "";
    }
    if (role == Role.TRAINER && !trainerEndpoints.isEmpty() && (id < 0 || id >= trainerEndpoints.size())) {
      throw new InvalidInput("id " + id + " is no place in trainer_endpoints, which has " + trainerEndpoints.size()
          + ": a trainer with fixed endpoints needs its rank");
    }
    if (role == Role.PSERVER && !serverEndpoints.isEmpty() && (id < 0 || id >= serverEndpoints.size())) {
      throw new InvalidInput("id " + id + " is no place in server_endpoints, which has "
          + serverEndpoints.size() + ": a server with fixed endpoints needs its index");
    }
  }

  /** Whether this process is the server, or the trainer of a collective job, at whose endpoint the rendezvous is. */
  boolean hostsRendezvous() {
    List<String> peers = role == Role.PSERVER ? serverEndpoints : role == Role.TRAINER ? trainerEndpoints : List.of();
    return !peers.isEmpty() && peers.get(id).equals(rendezvousEndpoint);
  }

  /** The node section, with the endpoints given here as its fixed directory if there are any. */
  NodeConfig directory(NodeConfig node) {
    if (rendezvousEndpoint.isEmpty()) {
      return node;
    }
    Map<String, String> endpoints = new HashMap<>(node.cluster().endpoints());
    if (!serverEndpoints.isEmpty()) {
      endpoints.put(Directory.PARAMETER_SERVER, String.join(",", serverEndpoints));
    }
    endpoints.put(Directory.RENDEZVOUS, rendezvousEndpoint);
    return node.withCluster(ClusterConfig.fixed(endpoints));
  }
}
