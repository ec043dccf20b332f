package io.regatta.node.cluster;

import com.hazelcast.config.AdvancedNetworkConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.config.ServerSocketEndpointConfig;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.BuildInfoProvider;
import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.DefaultNodeContext;
import com.hazelcast.instance.impl.DefaultNodeExtension;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.instance.impl.NodeExtension;
import com.hazelcast.internal.cluster.Joiner;
import com.hazelcast.internal.cluster.impl.TcpIpJoiner;
import com.hazelcast.internal.dynamicconfig.ClusterWideConfigurationService;
import com.hazelcast.internal.networking.ChannelInitializer;
import com.hazelcast.internal.serialization.InternalSerializationService;
import com.hazelcast.internal.server.ServerContext;
import com.hazelcast.spi.impl.NodeEngine;
import io.regatta.node.address.HostPort;
import io.regatta.node.member.VertxMember;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.logging.Level;

/**
 * The configuration and start of a process's Hazelcast member; {@link VertxMember} finds and stops it. The member holds
 * texts for the directory and for rendezvous stores, and serves members alone. Its port answers no clients, no REST and
 * no management calls. It creates no object of a class that another member names ({@link MemberClassLoader},
 * {@link MemberSerialization}). Vert.x's event bus does not use it.
 */
public final class HazelcastMember {

  /** Member attribute with the node id, by which an application's own clustered Vertx distinguishes its nodes. */
  private static final String NODE_ID_ATTRIBUTE = "__vertx.nodeId";
  private static final int CONNECT_SECONDS = 2;

  private HazelcastMember() {}

  /**
   * Starts a member, which joins or founds its cluster. If the required seed belongs to a cluster of another name, or
   * refuses the connection, the start ends at once; Hazelcast would ask again until its time is up. Blocking.
   *
   * @param agreed as in its configuration
   * @param connections of this member alone: TLS and token before Hazelcast's protocol; they end with it
   * @param refusal receives the log of the join from its beginning; a listener can be added to a member only when it
   *     has joined
   */
  static HazelcastInstance start(Config config, AgreedSettings agreed, MemberConnections connections,
      JoinRefusal refusal) {
    try {
      HazelcastInstance started = HazelcastInstanceFactory.newHazelcastInstance(config, config.getInstanceName(),
          context(config, agreed, connections, refusal));
      connections.joined();
      return started;
    } catch (RuntimeException | Error e) {
      connections.close();
      throw e;
    }
  }

  private static DefaultNodeContext context(Config config, AgreedSettings agreed, MemberConnections connections,
      JoinRefusal refusal) {
    return new DefaultNodeContext() {
      @Override
      public NodeExtension createNodeExtension(Node node) {
        node.loggingService.addLogListener(Level.WARNING, refusal);
        if (config.getAdvancedNetworkConfig().getJoin().getTcpIpConfig().getRequiredMember() != null) {
          Runnable stop = () -> new Thread(() -> node.shutdown(true), "regatta-hazelcast-stop").start();
          refusal.onOtherName(stop);
          connections.onRefused(stop);
        }
        return new DefaultNodeExtension(node) {
          @Override
          public Function<EndpointQualifier, ChannelInitializer> createChannelInitializerFn(ServerContext server) {
            return super.createChannelInitializerFn(server).andThen(own -> connections.guard(server, own));
          }

          @Override
          public InternalSerializationService createSerializationService() {
            return MemberSerialization.restrict(super.createSerializationService());
          }

          @Override
          public InternalSerializationService createCompatibilitySerializationService() {
            return MemberSerialization.restrict(super.createCompatibilitySerializationService());
          }

          @Override
          @SuppressWarnings("unchecked")
          public <T> T createService(Class<T> type, Object... parameters) {
            return ClusterWideConfigurationService.class.isAssignableFrom(type)
                ? (T) MemberSerialization.ignoringConfigurations((NodeEngine) parameters[0])
                : super.createService(type, parameters);
          }

          @Override
          public void afterShutdown() {
            connections.close();
            super.afterShutdown();
          }
        };
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
    };
  }

  /** Returns Hazelcast's version. */
  public static String version() {
    return BuildInfoProvider.getBuildInfo().getVersion();
  }

  /**
   * Returns Hazelcast's configuration: a port for members alone, joining over TCP through the given seeds only, quick
   * failure detection, few threads, nothing reported anywhere, no shutdown hook of its own. Nothing of it comes from
   * the class path.
   *
   * @param address this member's IP address
   * @param seeds IP address and port of each; empty for a cluster of one
   * @param required the seed to join, {@code ip:port}; null if this node may found the cluster
   * @param agreed what the members of the cluster have to agree on
   */
  static Config config(ClusterConfig cluster, String address, List<HostPort> seeds, HostPort required, boolean lite,
      AgreedSettings agreed) {
    Config config = new Config();
    config.setClusterName(cluster.name());
    config.setInstanceName("regatta-" + UUID.randomUUID());
    config.setLiteMember(lite);
    config.getMemberAttributeConfig().setAttribute(NODE_ID_ATTRIBUTE, UUID.randomUUID().toString());
    config.getMetricsConfig().setEnabled(false);
    config.getJetConfig().setEnabled(false);
    config.getManagementCenterConfig().setScriptingEnabled(false).setConsoleEnabled(false).setDataAccessEnabled(false);
    config.setClassLoader(new MemberClassLoader(HazelcastInstance.class.getClassLoader()));
    // Of an application's own clustered Vertx, some of whose entries this member may hold: as that one has it.
    config.getMultiMapConfig("__vertx.subs").setBackupCount(1)
        .setValueCollectionType(MultiMapConfig.ValueCollectionType.SET);
    network(config.getAdvancedNetworkConfig().setEnabled(true), cluster, address, seeds, required);

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

  private static void network(AdvancedNetworkConfig network, ClusterConfig cluster, String address,
      List<HostPort> seeds, HostPort required) {
    ServerSocketEndpointConfig port = new ServerSocketEndpointConfig().setPort(cluster.port())
        .setPortAutoIncrement(false);
    port.setSocketConnectTimeoutSeconds(CONNECT_SECONDS);
    if (!cluster.publishedHost().isBlank()) {
      port.setPublicAddress(cluster.publishedHost()); // with the port that it listens on
    }
    port.getInterfaces().clear().setEnabled(true).addInterface(address);
    network.setMemberEndpointConfig(port);
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
