package io.regatta.node.cluster;

import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.LifecycleEvent;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.instance.BuildInfoProvider;
import com.hazelcast.instance.impl.DefaultNodeContext;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.instance.impl.NodeExtension;
import com.hazelcast.internal.cluster.Joiner;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;
import io.regatta.node.address.HostPort;
import io.vertx.core.Completable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import io.vertx.spi.cluster.hazelcast.ConfigUtil;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.logging.Level;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cluster manager of a Vertx whose Hazelcast member Regatta started: leaving the cluster shuts the member down, so
 * that closing the Vertx leaves neither thread nor port. Owned by its Vertx.
 */
public final class HazelcastMember extends HazelcastClusterManager {

  /** The member attribute in which vertx-hazelcast expects the node's id when it is given a member. */
  private static final String NODE_ID_ATTRIBUTE = "__vertx.nodeId";
  /** Longer than a member that answers needs for the few operations of its leave. */
  private static final long LEAVE_SECONDS = 5;
  private static final Logger LOG = LoggerFactory.getLogger(HazelcastMember.class);

  private final HazelcastInstance hazelcast;

  HazelcastMember(HazelcastInstance hazelcast) {
    super(hazelcast);
    this.hazelcast = hazelcast;
  }

  /**
   * Ends within {@link #LEAVE_SECONDS}, whatever the others do. The manager waits for its handler of members that have gone, which
   * asks the cluster; of members that leave side by side, nobody may be left to answer.
   */
  @Override
  public void leave(Completable<Void> done) {
    Promise<Void> left = Promise.promise();
    super.leave(left);
    Thread closer = new Thread(() -> done.complete(null, stop(left.future())), "regatta-hazelcast-stop");
    closer.setDaemon(true);
    closer.start();
  }

  private Throwable stop(Future<Void> left) {
    try {
      left.await(LEAVE_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      LOG.warn("the cluster has not let this member go within {} s (do others leave at the same time?): it goes without a word",
          LEAVE_SECONDS);
      hazelcast.getLifecycleService().terminate();
      return null;
    } catch (Exception e) {
      return shutDown(e);
    }
    return shutDown(null);
  }

  /** In order, or else at once: whatever goes wrong, the Vertx that is being closed must hear of the end. */
  private Throwable shutDown(Throwable before) {
    try {
      hazelcast.getLifecycleService().shutdown();
      return before;
    } catch (RuntimeException | Error e) {
      try {
        hazelcast.getLifecycleService().terminate();
      } catch (RuntimeException | Error again) {
        e.addSuppressed(again);
      }
      return e;
    }
  }

  /** With lite members alone there is no map left to clean; a data member that comes later starts afresh. */
  @Override
  public synchronized void memberRemoved(MembershipEvent event) {
    if (event.getMembers().stream().anyMatch(member -> !member.isLiteMember())) {
      super.memberRemoved(event);
    }
  }

  /** The manager needs to know of a merge alone, and locks itself for all: not while this member is being stopped. */
  @Override
  public void stateChanged(LifecycleEvent event) {
    if (event.getState() == LifecycleState.MERGED) {
      super.stateChanged(event);
    }
  }

  /**
   * Starts a member, which joins or founds its cluster. One that has a required seed ends at once if the seed belongs to a
   * cluster of another name; Hazelcast would ask it again until its time is up. Blocking.
   *
   * @param agreed as in its configuration
   * @param refusal hears what the log says of the join from its beginning; a listener can be added to a member only when
   *     it has joined
   */
  static HazelcastInstance start(Config config, AgreedSettings agreed, JoinRefusal refusal) {
    return HazelcastInstanceFactory.newHazelcastInstance(config, config.getInstanceName(), new DefaultNodeContext() {
      @Override
      public NodeExtension createNodeExtension(Node node) {
        node.loggingService.addLogListener(Level.WARNING, refusal);
        if (config.getNetworkConfig().getJoin().getTcpIpConfig().getRequiredMember() != null) {
          refusal.onOtherName(() -> new Thread(() -> node.shutdown(true), "regatta-hazelcast-stop").start());
        }
        return super.createNodeExtension(node);
      }

      @Override
      public Joiner createJoiner(Node node) {
        return new TcpIpJoiner(node) {
          @Override
          public String getType() {
            return agreed.joiner();
          }
        };
      }
    });
  }

  /** Hazelcast's version. */
  public static String version() {
    return BuildInfoProvider.getBuildInfo().getVersion();
  }

  /** The address that the Hazelcast member under a Vertx announces; empty if there is none. */
  public static Optional<String> address(Vertx vertx) {
    return ((VertxInternal) vertx).clusterManager() instanceof HazelcastClusterManager manager
        && manager.getHazelcastInstance() != null
        ? Optional.of(manager.getHazelcastInstance().getCluster().getLocalMember().getAddress().getHost())
        : Optional.empty();
  }

  /**
   * The map of this name that all members of the Hazelcast cluster under a Vertx share; that of the JVM if there is no
   * cluster. For small texts. Its calls block, for as long as an operation of Hazelcast may take: never on an event loop.
   */
  public static Map<String, String> sharedMap(Vertx vertx, String name) {
    return ((VertxInternal) vertx).clusterManager() instanceof HazelcastClusterManager manager
        ? manager.getHazelcastInstance().getMap(name) : vertx.sharedData().getLocalMap(name);
  }

  /**
   * Hazelcast's configuration: joining over TCP through the given seeds only, quick failure detection, few threads,
   * nothing reported anywhere, no shutdown hook of its own.
   *
   * @param address this member's IP address
   * @param seeds IP address and port of each; empty for a cluster of one
   * @param required the seed to join, {@code ip:port}; null if this node may found the cluster
   * @param agreed what the members of the cluster have to agree on
   */
  static Config config(ClusterConfig cluster, String address, List<HostPort> seeds, HostPort required, boolean lite,
      AgreedSettings agreed) {
    Config config = ConfigUtil.loadConfig();
    config.setClusterName(cluster.name());
    config.setInstanceName("regatta-" + UUID.randomUUID());
    config.setLiteMember(lite);
    config.getMemberAttributeConfig().setAttribute(NODE_ID_ATTRIBUTE, UUID.randomUUID().toString());
    config.getMetricsConfig().setEnabled(false);
    config.getJetConfig().setEnabled(false);
    network(config.getNetworkConfig(), cluster, address, seeds, required);

    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.logging.details.enabled", "false");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.shutdownhook.enabled", "false");
    config.setProperty("hazelcast.health.monitoring.level", "OFF");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.setProperty("hazelcast.wait.seconds.before.join", "0");
    config.setProperty("hazelcast.max.wait.seconds.before.join", "0");
    // A stock member admits others five seconds after they have asked; who may found the cluster must not wait so long.
    config.setProperty("hazelcast.max.join.seconds", required == null ? "4" : "10");
    config.setProperty("hazelcast.socket.connect.timeout.seconds", "2");
    config.setProperty("hazelcast.heartbeat.interval.seconds", Integer.toString(cluster.heartbeatSeconds()));
    config.setProperty("hazelcast.max.no.heartbeat.seconds", Integer.toString(cluster.silenceSeconds()));
    config.setProperty("hazelcast.operation.call.timeout.millis", "10000");
    config.setProperty("hazelcast.graceful.shutdown.max.wait", "2");
    config.setProperty("hazelcast.merge.first.run.delay.seconds", "5");
    config.setProperty("hazelcast.merge.next.run.delay.seconds", "5");
    if (agreed.partitions() != null) {
      config.setProperty("hazelcast.partition.count", agreed.partitions());
    }
    config.setProperty("hazelcast.operation.thread.count", "2");
    config.setProperty("hazelcast.operation.generic.thread.count", "2");
    config.setProperty("hazelcast.io.thread.count", "1");
    config.setProperty("hazelcast.event.thread.count", "1");
    return config;
  }

  private static void network(NetworkConfig network, ClusterConfig cluster, String address, List<HostPort> seeds,
      HostPort required) {
    network.setPort(cluster.port()).setPortAutoIncrement(false);
    if (!cluster.publishedHost().isBlank()) {
      network.setPublicAddress(cluster.publishedHost()); // with the port that it listens on
    }
    network.getInterfaces().clear().setEnabled(true).addInterface(address);
    JoinConfig join = network.getJoin();
    join.getMulticastConfig().setEnabled(false);
    join.getAutoDetectionConfig().setEnabled(false);
    join.getTcpIpConfig().setEnabled(true).clear().setConnectionTimeoutSeconds(3);
    seeds.forEach(seed -> join.getTcpIpConfig().addMember(seed.toString()));
    if (required != null) {
      join.getTcpIpConfig().setRequiredMember(required.toString());
    }
  }
}
