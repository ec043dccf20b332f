package io.regatta.load.attack;

import com.hazelcast.client.HazelcastClient;
import com.hazelcast.client.config.ClientConfig;
import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.core.DistributedObject;
import com.hazelcast.core.Hazelcast;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.map.IMap;
import java.util.List;
import java.util.stream.Collectors;

/** Hazelcast's own client and member, with the right name of the cluster, at every port. Any thread. */
final class MemberAttack {
  private static final int CONNECT_MILLIS = 1500;
  private static final int JOIN_SECONDS = 8;

  private MemberAttack() {}

  /** Connects as a client. Blocks for some seconds. */
  static Finding client(Port port, String cluster) {
    String attempt = "Hazelcast client";
    ClientConfig config = new ClientConfig().setClusterName(cluster);
    config.setProperty("hazelcast.logging.type", "none");
    config.getNetworkConfig().addAddress(port.address()).setConnectionTimeout(CONNECT_MILLIS);
    config.getConnectionStrategyConfig().getConnectionRetryConfig().setClusterConnectTimeoutMillis(CONNECT_MILLIS);
    HazelcastInstance client;
    try {
      client = HazelcastClient.newHazelcastClient(config);
    } catch (RuntimeException e) {
      return Finding.presence(attempt, port, "not connected", "");
    }
    try {
      return inside(attempt, port.toString(), client);
    } finally {
      client.shutdown();
    }
  }

  /** Joins as a member through all these ports. Blocks for some seconds. */
  static Finding member(List<Port> ports, String host, String cluster) {
    String attempt = "Hazelcast member";
    Config config = new Config().setClusterName(cluster);
    config.setProperty("hazelcast.logging.type", "none").setProperty("hazelcast.phone.home.enabled", "false")
        .setProperty("hazelcast.shutdownhook.enabled", "false")
        .setProperty("hazelcast.max.join.seconds", Integer.toString(JOIN_SECONDS));
    config.getNetworkConfig().getInterfaces().setEnabled(true).addInterface(host);
    JoinConfig join = config.getNetworkConfig().getJoin();
    join.getMulticastConfig().setEnabled(false);
    join.getAutoDetectionConfig().setEnabled(false);
    join.getTcpIpConfig().setEnabled(true);
    ports.forEach(port -> join.getTcpIpConfig().addMember(port.address()));
    HazelcastInstance member;
    try {
      member = Hazelcast.newHazelcastInstance(config);
    } catch (RuntimeException e) {
      return Finding.presence(attempt, "all ports", "not admitted", "");
    }
    try {
      return member.getCluster().getMembers().size() == 1
          ? Finding.presence(attempt, "all ports", "not admitted: it is alone", "")
          : inside(attempt, "all ports", member);
    } finally {
      member.getLifecycleService().terminate();
    }
  }

  /** Reads the maps of a cluster that has admitted the attacker, and writes to each. */
  private static Finding inside(String attempt, String target, HazelcastInstance instance) {
    List<String> names = instance.getDistributedObjects().stream().map(DistributedObject::getName).toList();
    String entries = names.stream().map(name -> {
      IMap<Object, Object> map = instance.getMap(name);
      String content = map.entrySet().toString();
      map.put("attacker/forged", "{}");
      return name + " " + content;
    }).collect(Collectors.joining("; "));
    return new Finding(attempt, target, "admitted, " + instance.getCluster().getMembers().size() + " members", "",
        entries.length() > 300 ? entries.substring(0, 300) : entries, "an entry in " + String.join(", ", names));
  }
}
