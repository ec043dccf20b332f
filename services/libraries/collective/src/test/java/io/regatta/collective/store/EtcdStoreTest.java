package io.regatta.collective.store;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.Joining;
import io.regatta.collective.Seat;
import io.regatta.collective.join.StoreRendezvous;
import io.regatta.collective.join.Timing;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.security.PeerSecurity;
import io.vertx.core.Future;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Against a cluster of three etcd members if {@code PATH} has etcd, and otherwise against {@link EtcdGateway}, so that
 * no machine skips it. A line of the log says which of the two it was. Only the former proves anything of Raft, of
 * etcd's limits, and of members that die.
 */
class EtcdStoreTest extends StoreContract {
  private static final Logger LOG = LoggerFactory.getLogger(EtcdStoreTest.class);
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final int MEMBERS = 3;

  @TempDir
  private static Path directory;
  /** Null: no etcd is installed. */
  private static EtcdServer etcd;

  private final String prefix = "test/" + UUID.randomUUID();
  private List<HostPort> members;

  @BeforeAll
  static void start() throws Exception {
    Optional<Path> program = EtcdServer.program();
    etcd = program.isEmpty() ? null : new EtcdServer(program.get(), directory, MEMBERS);
    LOG.info("the store in etcd is tested against {}", program.map(path -> MEMBERS + " members of " + path)
        .orElse("the gateway in this JVM, because PATH has no etcd"));
  }

  @AfterAll
  static void end() throws Exception {
    if (etcd != null) {
      etcd.close();
    }
  }

  @Override
  Store client() {
    if (members == null) {
      EtcdGateway gateway = new EtcdGateway();
      members = etcd != null ? etcd.members()
          : List.of(gateway.member(vertx), gateway.member(vertx), gateway.member(vertx));
    }
    return store(members, prefix);
  }

  private Store store(List<HostPort> at, String below) {
    return new EtcdStore(vertx, new EtcdEndpoints(at, below), PeerSecurity.NONE);
  }

  @Test
  void keysOfAnotherPrefixAreOthers_andAllMembersSeeTheSame() {
    Store store = client();
    get(store.set("k", new byte[] {1}));
    for (HostPort member : members) {
      Store one = store(List.of(member), prefix);
      assertThat(get(one.get("k"))).hasValueSatisfying(value -> assertThat(value).containsExactly(1));
      get(one.close());
    }
    Store other = store(members, prefix + "2");
    assertThat(get(other.get("k"))).isEmpty();
    get(other.close());
    get(store.close());
  }

  @Test
  void valuesOfTheLargestSizeAreComparedAndSet() {
    Store store = client();
    byte[] first = new byte[Store.VALUE_BYTES];
    byte[] second = new byte[Store.VALUE_BYTES];
    second[Store.VALUE_BYTES - 1] = 1;
    get(store.set("large", first));
    assertThat(get(store.compareAndSet("large", Optional.of(second), first))).isFalse();
    assertThat(get(store.compareAndSet("large", Optional.of(first), second))).isTrue();
    assertThat(get(store.get("large"))).hasValueSatisfying(value -> assertThat(value).isEqualTo(second));
    get(store.delete("large"));
    get(store.close());
  }

  @Test
  @Timeout(60)
  void aGroupForms_andAMemberThatDoesNotBeatIsLostWhenItsLeaseIsOver() {
    Timing hasty = new Timing(Duration.ofMillis(20), Duration.ofMillis(1500));
    List<Store> stores = List.of(client(), client());
    List<StoreRendezvous> rendezvous = stores.stream()
        .map(store -> new StoreRendezvous(vertx, store.under("job"), hasty, new Waits())).toList();
    List<Future<Seat>> joins = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      joins.add(rendezvous.get(i).join(new Joining("g", 1, 2, i, "m" + i, "m" + i + ":1", LONG, LONG)));
    }
    List<Seat> seats = joins.stream().map(join -> get(join)).toList();
    assertThat(seats).extracting(seat -> seat.membership().rank()).containsExactly(0, 1);
    assertThat(seats.get(1).membership().endpoints()).containsExactly("m0:1", "m1:1");
    get(stores.get(0).close()); // it can neither beat nor leave any more
    assertThat(get(seats.get(1).ended())).contains("rank 0");
    get(seats.get(1).leave());
    rendezvous.forEach(StoreRendezvous::close);
    get(stores.get(1).close());
  }

  /** No test where no etcd is installed: {@link EtcdStoreFaultsTest} has members that do not answer. */
  @TestFactory
  Stream<DynamicTest> ofRealMembers() {
    return EtcdServer.program().stream().map(program -> DynamicTest.dynamicTest(
        "when a member dies the others serve, and when most are dead the error names them", () -> someDie(program)));
  }

  private void someDie(Path program) throws Exception {
    try (EtcdServer mortal = new EtcdServer(program, Files.createDirectory(directory.resolve("mortal")), MEMBERS)) {
      Store store = store(mortal.members(), prefix);
      get(store.set("k", new byte[] {1}));
      mortal.kill(0);
      assertThat(get(store.await("k", LONG))).containsExactly(1);
      get(untilSet(store));
      mortal.kill(1);
      assertThatThrownBy(() -> get(store.get("k"))).isInstanceOf(PeerLost.class)
          .hasMessageContaining(mortal.members().get(0) + ": connection refused")
          .hasMessageContaining(mortal.members().get(2) + ": ").hasMessageContaining("etcdctl endpoint health")
          .hasMessageNotContaining("\n");
      get(store.close());
    }
  }

  /** A write to a member that has just lost its leader may fail. */
  private Future<Void> untilSet(Store store) {
    return store.set("k", new byte[] {2})
        .recover(e -> e instanceof PeerLost ? untilSet(store) : Future.failedFuture(e));
  }
}
