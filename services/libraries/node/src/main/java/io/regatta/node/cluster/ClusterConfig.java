package io.regatta.node.cluster;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.FixedDirectory;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Settings for finding the other processes. Validated in the constructor, immutable. */
@RecordBuilder
public record ClusterConfig(
    @Setting(value = "regatta", doc = "Name of the Hazelcast cluster: nodes with different names never meet.")
    String name,

    @Setting(value = "hazelcast", doc = "hazelcast: services announce themselves in the cluster; fixed: "
        + "cluster.endpoints says where everything is, and no cluster is formed.")
    DirectoryKind directory,

    @Setting(doc = "Hazelcast members to join through, host:port each. A node whose own "
        + "address and port stand here starts the cluster; every other node waits for one of these. A name "
        + "that stands for several members is all of them. Empty: alone.")
    List<String> seeds,

    @Setting(value = "0", doc = "This node's Hazelcast port; 0: any free one. A seed needs the port written in seeds.")
    int port,

    @Setting(doc = "Address, host name or network interface to bind to and to publish. Empty: the interface that "
        + "routes to the first seed, never loopback if a seed is on another machine.")
    String address,

    @Setting(value = "auto", doc = "data: holds directory entries; lite: only reads and writes them; auto: trainers "
        + "and clients are lite, services are data members.")
    MemberKind member,

    @Setting(value = "true", doc = "Whether Hazelcast members speak TLS and prove the token to each other, if there "
        + "are TLS and a token. false: to join the cluster of another application, where everybody who reaches its "
        + "ports can change the directory.")
    boolean memberProof,

    @Setting(doc = "Host under which the other members reach this one's Hazelcast port, where that is not address: "
        + "behind a translation of addresses, whose port must be the same. Empty: address.")
    String publishedHost,

    @Setting(value = "10", unit = "s", doc = "How long a directory entry outlives its owner's last renewal.")
    int leaseSeconds,

    @Setting(value = "1", unit = "s", doc = "Interval of Hazelcast's heartbeats.")
    int heartbeatSeconds,

    @Setting(value = "4", unit = "s", doc = "Silence after which a Hazelcast member counts as gone.")
    int silenceSeconds,

    @Setting(doc = "Fixed directory: service name to comma-separated host:port of its instances, in index order, e.g. "
        + "parameter-server: \"10.0.0.1:7164,10.0.0.2:7164\".")
    Map<String, String> endpoints) implements ClusterConfigBuilder.With {

  /** The source of the entries of instances. */
  public enum DirectoryKind { HAZELCAST, FIXED }

  /** The kind of Hazelcast member that this process is. */
  public enum MemberKind { AUTO, DATA, LITE }

  public ClusterConfig {
    seeds = List.copyOf(seeds);
    endpoints = Map.copyOf(endpoints);
    if (name.isBlank()) {
      throw new InvalidInput("name must not be empty");
    }
    HostPort.check("port", port);
    seeds.forEach(seed -> HostPort.parse(seed, "seeds"));
    endpoints.forEach((service, list) -> FixedDirectory.parse(service, list));
    if (leaseSeconds < 2) {
      throw new InvalidInput("lease_seconds must be at least 2, got " + leaseSeconds);
    }
    if (heartbeatSeconds < 1 || silenceSeconds <= heartbeatSeconds) {
      throw new InvalidInput("silence_seconds must be greater than heartbeat_seconds, and that at least 1: got "
          + silenceSeconds + " and " + heartbeatSeconds);
    }
    if (directory == DirectoryKind.FIXED && endpoints.isEmpty()) {
      throw new InvalidInput("directory is fixed, but endpoints is empty: say where the services are");
    }
  }

  /** Returns the settings of a Hazelcast cluster of this name, everything else by default. */
  public static ClusterConfig of(String name, List<String> seeds, int port) {
    return Settings.defaults(ClusterConfig.class).with(c -> c.name(name).seeds(seeds).port(port));
  }

  /** Returns the settings of fixed endpoints, without a cluster. */
  public static ClusterConfig fixed(Map<String, String> endpoints) {
    return Settings.defaults(ClusterConfig.class).with(c -> c.directory(DirectoryKind.FIXED).endpoints(endpoints));
  }

  /** Returns a copy for a member that holds directory entries, whatever its role: with these seeds, at this port. */
  public ClusterConfig holding(List<String> otherSeeds, int otherPort) {
    return with(c -> c.seeds(otherSeeds).port(otherPort).member(MemberKind.DATA));
  }

  /**
   * Returns true if a process with these settings can find others: through seeds, as a seed itself at a port that they
   * know, or at fixed endpoints. Otherwise only components of the same JVM on the same node find each other.
   */
  public boolean canMeetOthers() {
    return directory == DirectoryKind.FIXED || !seeds.isEmpty() || port != 0;
  }

  /** Returns the seeds, parsed. */
  public List<HostPort> seedMembers() {
    return seeds.stream().map(seed -> HostPort.parse(seed, "seeds")).toList();
  }

  /**
   * Returns the meeting place of processes that know fixed endpoints: the rendezvous, or else any service; null: there
   * is none.
   */
  public HostPort meetingPlace() {
    return Stream.concat(Stream.of(Directory.RENDEZVOUS), endpoints.keySet().stream().sorted()).filter(endpoints::containsKey)
        .flatMap(service -> FixedDirectory.parse(service, endpoints.get(service)).stream()).findFirst()
        .map(instance -> new HostPort(instance.host(), instance.controlPort())).orElse(null);
  }
}
