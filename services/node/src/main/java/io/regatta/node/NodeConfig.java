package io.regatta.node;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.admin.AdminConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import java.time.Duration;

/** What every process is configured with alike: the section {@code node} of every service. Immutable. */
public record NodeConfig(
    @Setting(doc = "How this process finds the others.")
    ClusterConfig cluster,

    @Setting(doc = "The admin server.")
    AdminConfig admin,

    @Setting(doc = "Host that services bind to and announce; empty: the address chosen for the cluster, or, with fixed "
        + "endpoints, that of the interface which routes to the rendezvous.")
    String host,

    @Setting(value = "120", unit = "s", doc = "How long to wait for other services, and a trainer for the others of its job, before giving up.")
    int readyTimeoutSeconds,

    @Setting(value = "10", unit = "s", doc = "A wait that lasts longer than this is logged.")
    int longWaitSeconds,

    @Setting(value = "0", doc = "Number of event loops; 0: twice the number of cores.")
    int eventLoops,

    @Setting(value = "false", doc = "Whether /metrics shows Vert.x's own metrics as well (HTTP, pools, event bus).")
    boolean vertxMetrics) {

  public NodeConfig {
    atLeast(1, "ready_timeout_seconds", readyTimeoutSeconds);
    atLeast(1, "long_wait_seconds", longWaitSeconds);
    atLeast(0, "event_loops", eventLoops);
  }

  private static void atLeast(int least, String key, int value) {
    if (value < least) {
      throw new InvalidInput(key + " must be at least " + least + ", not " + value);
    }
  }

  /** Everything by default: a node alone, on loopback, any admin port. */
  public static NodeConfig defaults() {
    return Settings.defaults(NodeConfig.class);
  }

  /** How long to wait for others before giving up. */
  public Duration readyTimeout() {
    return Duration.ofSeconds(readyTimeoutSeconds);
  }

  /**
   * Refuses a process that is nothing without others and can meet nobody.
   *
   * @param otherwise what its user may have meant instead, e.g. {@code , or --local to train here}; may be empty
   */
  public void requireOthers(String otherwise) {
    if (!cluster.canMeetOthers()) {
      throw new InvalidInput("no seeds: give --seeds HOST:PORT (node.cluster.seeds)" + otherwise);
    }
  }

  /** The same with another time to wait for others, s. */
  public NodeConfig withReadyTimeout(int seconds) {
    return new NodeConfig(cluster, admin, host, seconds, longWaitSeconds, eventLoops, vertxMetrics);
  }

  /** The same on another host, see {@code host}. */
  public NodeConfig withHost(String other) {
    return new NodeConfig(cluster, admin, other, readyTimeoutSeconds, longWaitSeconds, eventLoops, vertxMetrics);
  }

  /** The same with another cluster section. */
  public NodeConfig withCluster(ClusterConfig other) {
    return new NodeConfig(other, admin, host, readyTimeoutSeconds, longWaitSeconds, eventLoops, vertxMetrics);
  }
}
