package io.regatta.fleet.process;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.node.NodeConfig;
import io.regatta.node.Sections;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusterConfig.DirectoryKind;
import io.regatta.node.directory.Directory;
import io.regatta.node.settings.Setting;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** This process's place in a fleet: the section {@code fleet}. Immutable. */
public record FleetConfig(
    @Setting(value = "local", doc = "What this process does.")
    Role role,

    @Setting(value = "-1", doc = "Rank of a trainer, index of any other process; -1: any that is free.")
    int id,

    @Setting(doc = "Control ports of the parameter servers by index, host:port each. Empty: found in the directory, "
        + "their number as the job file says.")
    List<String> serverEndpoints,

    @Setting(doc = "Ports of the heter workers by index, host:port each. Empty: found in the directory.")
    List<String> heterEndpoints,

    @Setting(doc = "Collective jobs: host:port of every trainer by rank; the first one's is where the rendezvous is, which that "
        + "trainer hosts. Empty: the rendezvous is found otherwise.")
    List<String> trainerEndpoints,

    @Setting(doc = "host:port of the rendezvous. Empty: the first of server_endpoints, which serves it beside its shards, or of "
        + "trainer_endpoints; without those, found in the directory.")
    String rendezvousEndpoint,

    @Setting(doc = "host:port that a trainer announces to the other trainers; may be empty.")
    String endpoint,

    @Setting(value = "false", doc = "A trainer's process hosts services of its job as well: the first one's the rendezvous, and, but in "
        + "collective mode, each a parameter server. So it is where MPI or Slurm start the trainers.")
    boolean hostsServices,

    @Setting(doc = "hosts_services: host:port on the first trainer's machine at which the cluster is formed, if there are no "
        + "node.cluster.seeds. MPI and Slurm give one if all trainers are on one machine.")
    String meetingPlace) {

  public FleetConfig {
    if (!meetingPlace.isEmpty()) {
      HostPort.parse(meetingPlace, "meeting_place");
    }
    serverEndpoints = List.copyOf(serverEndpoints);
    heterEndpoints = List.copyOf(heterEndpoints);
    trainerEndpoints = List.copyOf(trainerEndpoints);
    if (!serverEndpoints.isEmpty() && !trainerEndpoints.isEmpty()) {
      throw new InvalidInput("server_endpoints and trainer_endpoints: a job has parameter servers, or its trainers exchange among "
          + "themselves; give one of the two");
    }
    if (rendezvousEndpoint.isEmpty()) {
      rendezvousEndpoint = !serverEndpoints.isEmpty() ? serverEndpoints.get(0)
          : !trainerEndpoints.isEmpty() ? trainerEndpoints.get(0) : "";
    }
    if (role == Role.TRAINER) {
      checkPlace(id, "trainer_endpoints", trainerEndpoints, "trainer", "rank");
    }
    if (role == Role.PSERVER) {
      checkPlace(id, "server_endpoints", serverEndpoints, "server", "index");
    }
    boolean found = !rendezvousEndpoint.isEmpty();
    endpoints(heterEndpoints).forEach((auxiliary, endpoints) -> checkAuxiliary(auxiliary, endpoints, role, id, found));
  }

  /** Returns the fixed endpoints of auxiliary services by their roles; a list may be empty. */
  private static Map<LaunchedRole, List<String>> endpoints(List<String> heterEndpoints) {
    return Map.of(LaunchedRole.HETER_WORKER, heterEndpoints);
  }

  /** Returns the fixed endpoints of a kind of auxiliary services; empty: found in the directory. */
  List<String> endpoints(LaunchedRole auxiliary) {
    return endpoints(heterEndpoints).getOrDefault(auxiliary, List.of());
  }

  private static void checkAuxiliary(LaunchedRole auxiliary, List<String> endpoints, Role own, int id,
      boolean foundAtFixedPlaces) {
    String key = auxiliary.endpointsKey().substring(Sections.FLEET.length() + 1);
    if (own == auxiliary.role()) {
      checkPlace(id, key, endpoints, auxiliary.called(), "index");
    }
    if (!endpoints.isEmpty() && !foundAtFixedPlaces) {
      throw new InvalidInput(key + ": " + auxiliary.called()
          + "s with fixed endpoints go with services that have them, too; give "
          + "server_endpoints, trainer_endpoints or rendezvous_endpoint");
    }
  }

  private static void checkPlace(int id, String key, List<String> endpoints, String called, String number) {
    if (!endpoints.isEmpty() && (id < 0 || id >= endpoints.size())) {
      throw new InvalidInput("id " + id + " is no place in " + key + ", which has " + endpoints.size() + ": a " + called
          + " with fixed endpoints needs its " + number);
    }
  }

  /**
   * Returns true if the rendezvous is at the endpoint of this process: the first server, or the first trainer of a
   * collective job.
   */
  boolean hostsRendezvous() {
    List<String> peers = role == Role.PSERVER ? serverEndpoints : role == Role.TRAINER ? trainerEndpoints : List.of();
    return !peers.isEmpty() && peers.get(id).equals(rendezvousEndpoint);
  }

  /** Returns the name of the role in messages. */
  String roleName() {
    return role.configName().replace('_', ' ');
  }

  /** Returns true if this process is a trainer's, and hosts services which are found through Hazelcast. */
  boolean isHost() {
    return hostsServices && role == Role.TRAINER && rendezvousEndpoint.isEmpty();
  }

  /** Returns the node section, with the endpoints given here as its fixed directory if there are any. */
  NodeConfig directory(NodeConfig node) {
    if (isHost() && node.cluster().directory() == DirectoryKind.HAZELCAST) {
      return node.withCluster(hosting(node.cluster()));
    }
    if (rendezvousEndpoint.isEmpty()) {
      return node;
    }
    Map<String, String> endpoints = new HashMap<>(node.cluster().endpoints());
    if (!serverEndpoints.isEmpty()) {
      endpoints.put(Directory.PARAMETER_SERVER, String.join(",", serverEndpoints));
    }
    for (Service<?> service : Services.auxiliaries()) {
      List<String> ofAuxiliaries = endpoints(service.auxiliary().launched());
      if (!ofAuxiliaries.isEmpty()) {
        endpoints.put(service.name(), String.join(",", ofAuxiliaries));
      }
    }
    endpoints.put(Directory.RENDEZVOUS, rendezvousEndpoint);
    return node.withCluster(ClusterConfig.fixed(endpoints));
  }

  /**
   * Returns the cluster section of a hosting trainer: all hold the directory, and the first trainer founds the cluster.
   */
  private ClusterConfig hosting(ClusterConfig cluster) {
    List<String> seeds = cluster.seeds().isEmpty() && !meetingPlace.isEmpty() ? List.of(meetingPlace) : cluster.seeds();
    String elsewhere = "; for services that run elsewhere, set fleet.hosts_services to false, too";
    if (seeds.isEmpty()) {
      throw new InvalidInput("trainers that host their services (fleet.hosts_services) need a place to meet, which a scheduler gives to "
          + "those of one machine if it names their job: give --seeds HOST:PORT with the machine of rank 0, the first of a hostfile, "
          + "and a free port" + elsewhere);
    }
    if (id < 0) {
      throw new InvalidInput("a trainer that hosts services (fleet.hosts_services) needs its rank: give --rank N");
    }
    if (id > 0) {
      return cluster.holding(seeds, cluster.port());
    }
    HostPort here = seeds.stream().map(seed -> HostPort.parse(seed, "seeds"))
        .filter(seed -> PublishedAddress.isHere(seed, seed.port())).findFirst().orElseThrow(() -> new InvalidInput("rank 0 forms the "
            + "cluster, and its machine is none of the seeds " + String.join(",", seeds) + ": name it first there" + elsewhere));
    return cluster.holding(seeds, here.port());
  }
}
