package io.regatta.node.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.hazelcast.cluster.ClusterState;
import com.hazelcast.cluster.Member;
import com.hazelcast.config.Config;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.core.LifecycleEvent.LifecycleState;
import com.hazelcast.instance.impl.HazelcastInstanceProxy;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.security.Token;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two members with a token whose cluster splits and heals. */
class MemberMergeTest {

  private static final String SOON_SECONDS = "1";
  private static final int LIMIT_SECONDS = 60;

  private final String cluster = "test-" + UUID.randomUUID();
  private final List<HostPort> seeds = List.of(new HostPort("127.0.0.1", FreePorts.one()),
      new HostPort("127.0.0.1", FreePorts.one()));
  private final PeerSecurity security = PeerSecurity.of(null, Token.of("a-token-of-this-test-alone", "a test"));
  private final List<HazelcastInstance> members = new ArrayList<>();
  private final CountDownLatch merged = new CountDownLatch(1);

  @AfterEach
  void close() {
    members.forEach(member -> member.getLifecycleService().terminate());
  }

  private HazelcastInstance start(HostPort at) {
    ClusterConfig own = ClusterConfig.of(cluster, seeds.stream().map(HostPort::toString).toList(), at.port());
    Config config = HazelcastMember.config(own, at.host(), seeds, null, false, AgreedSettings.OWN);
    config.setProperty("hazelcast.merge.first.run.delay.seconds", SOON_SECONDS);
    config.setProperty("hazelcast.merge.next.run.delay.seconds", SOON_SECONDS);
    HazelcastInstance member = HazelcastMember.start(config, AgreedSettings.OWN, new MemberConnections(security, null),
        new JoinRefusal());
    members.add(member);
    member.getLifecycleService().addLifecycleListener(event -> {
      if (event.getState() == LifecycleState.MERGED) {
        merged.countDown();
      }
    });
    return member;
  }

  private static Member beside(HazelcastInstance member) {
    return member.getCluster().getMembers().stream().filter(other -> !other.localMember()).findFirst().orElseThrow();
  }

  private static void suspect(HazelcastInstance by, Member suspected) {
    ((HazelcastInstanceProxy) by).getOriginal().node.getClusterService().suspectMember(suspected, "a test", true);
  }

  /** Before a cluster of several members merges with another one, its first member has all of them change to this state. */
  @Test
  void membersAgreeOnTheStateThatComesBeforeAMerge() {
    HazelcastInstance one = start(seeds.get(0));
    HazelcastInstance other = start(seeds.get(1));
    one.getCluster().changeClusterState(ClusterState.FROZEN);
    assertThat(other.getCluster().getClusterState()).isEqualTo(ClusterState.FROZEN);
    one.getCluster().changeClusterState(ClusterState.ACTIVE);
    assertThat(other.getCluster().getClusterState()).isEqualTo(ClusterState.ACTIVE);
  }

  @Test
  void entriesOfBothSidesAreThere_afterTheClusterHasHealed() throws Exception {
    HazelcastInstance one = start(seeds.get(0));
    HazelcastInstance other = start(seeds.get(1));
    Member first = beside(other);
    suspect(one, beside(one));
    suspect(other, first);
    one.<String, String>getMap(HazelcastDirectory.MAP).set("parameter-server/one", "an entry");
    other.<String, String>getMap(HazelcastDirectory.MAP).set("parameter-server/other", "an entry");
    assertThat(merged.await(LIMIT_SECONDS, TimeUnit.SECONDS)).as("healed").isTrue();
    Set<String> both = Set.of("parameter-server/one", "parameter-server/other");
    for (HazelcastInstance member : members) {
      assertThat(member.getCluster().getMembers()).hasSize(2);
      assertThat(member.<String, String>getMap(HazelcastDirectory.MAP).keySet()).isEqualTo(both);
    }
  }
}
