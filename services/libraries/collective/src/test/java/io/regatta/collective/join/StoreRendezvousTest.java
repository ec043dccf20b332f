package io.regatta.collective.join;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.collective.store.FileStore;
import io.regatta.collective.store.HazelcastStore;
import io.regatta.collective.store.HttpStore;
import io.regatta.collective.store.MemoryStore;
import io.regatta.collective.store.SplittingStore;
import io.regatta.collective.store.Store;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.rendezvous.http.HttpStoreConfig;
import io.regatta.rendezvous.http.KeyValueServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Members of a group that meet over a store, each with a rendezvous of its own, as in processes of their own. */
@ExtendWith(BlockedLoopGuard.class)
class StoreRendezvousTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Timing HASTY = new Timing(Duration.ofMillis(10), Duration.ofMillis(1500));
  private static final Timing PATIENT = new Timing(Duration.ofMillis(10), Duration.ofSeconds(20));

  private final Vertx vertx = Vertx.vertx();
  private final Store memory = new MemoryStore(vertx);
  private final List<StoreRendezvous> members = new ArrayList<>();

  @AfterEach
  void close() {
    members.forEach(StoreRendezvous::close);
    get(vertx.close());
  }

  private StoreRendezvous rendezvous(Store store, Timing timing) {
    StoreRendezvous rendezvous = new StoreRendezvous(vertx, store.under("job"), timing, new Waits());
    members.add(rendezvous);
    return rendezvous;
  }

  private Future<Seat> fixed(int worldSize, int rank, String member) {
    return rendezvous(memory, HASTY).join(Joining.fixed("g", worldSize, rank, member, member + ":1", LONG));
  }

  private Future<Seat> elastic(int min, int max, String member, Duration timeout) {
    return rendezvous(memory, PATIENT).join(new Joining("g", min, max, -1, member, member + ":1", timeout,
        Duration.ofSeconds(1)));
  }

  private static List<Seat> all(List<Future<Seat>> joins) {
    return joins.stream().map(join -> get(join)).toList();
  }

  private static void assertOneGroup(List<Seat> seats, int worldSize) {
    Membership first = seats.get(0).membership();
    assertThat(seats).extracting(s -> s.membership().generation()).containsOnly(first.generation());
    assertThat(seats).extracting(s -> s.membership().endpoints()).containsOnly(first.endpoints());
    assertThat(seats).extracting(s -> s.membership().rank())
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, worldSize).boxed().toList());
    assertThat(first.worldSize()).isEqualTo(worldSize);
  }

  @Test
  void whenAllHaveCome_thenAllHaveTheSameGroupAndGivenRanksAreKept(@TempDir Path directory) {
    for (Store store : List.of(memory, new FileStore(vertx, directory, Duration.ofMillis(20)))) {
      List<Future<Seat>> joins = new ArrayList<>();
      for (int rank : new int[] {-1, 3, 0, -1, -1}) {
        joins.add(rendezvous(store, PATIENT).join(Joining.fixed("g", 5, rank, "m" + joins.size(), "h:" + joins.size(), LONG)));
      }
      List<Seat> seats = all(joins);
      assertOneGroup(seats, 5);
      assertThat(seats.get(1).membership().rank()).isEqualTo(3);
      assertThat(seats.get(2).membership().rank()).isZero();
      assertThat(seats.get(4).membership().endpoints()).element(3).isEqualTo("h:1");
    }
  }

  /**
   * Returns the outcomes of a group with members on each side of a network that fails. Ranks are assigned so that this
   * side has the lowest.
   */
  private List<Future<Membership>> split(int here, int there) {
    SplittingStore near = new SplittingStore(vertx);
    SplittingStore far = near.other(vertx);
    List<Future<Seat>> joins = new ArrayList<>();
    for (int rank = 0; rank < here + there; rank++) {
      joins.add(rendezvous(rank < here ? near : far, HASTY).join(new Joining("g", 1, here + there, rank, "m" + rank, "h:" + rank, LONG, LONG)));
    }
    List<Seat> seats = all(joins);
    assertOneGroup(seats, here + there);
    far.split();
    return seats.stream().map(seat -> seat.ended().transform(over -> seat.reform(LONG))).toList();
  }

  @ParameterizedTest
  @CsvSource({"3, 2, true", "2, 3, false", "2, 2, true", "1, 1, true", "1, 2, false"})
  void continuesOnOneSideOnly_whenTheStoreIsSplit(int here, int there, boolean hereContinues) {
    List<Future<Membership>> next = split(here, there);
    List<Future<Membership>> near = next.subList(0, here);
    List<Future<Membership>> far = next.subList(here, here + there);
    List<Future<Membership>> majority = hereContinues ? near : far;
    for (Future<Membership> ended : hereContinues ? far : near) {
      assertThatThrownBy(() -> get(ended)).isInstanceOf(StaleGeneration.class).hasMessageContaining("split network")
          .hasMessageContaining("collective.quorum: none");
    }
    assertThat(majority).allSatisfy(one -> assertThat(get(one).worldSize()).isEqualTo(majority.size()));
  }

  private enum Over { FILE, GLOO, LAUNCH, HAZELCAST }

  /** Runs a short form of the other tests over every store; each member has a client of its own. */
  @ParameterizedTest
  @EnumSource
  void overEveryStoreAGroupForms_aRankThatIsHeldIsRefused_andWhoIsLeftFormsAgain(Over over, @TempDir Path directory) {
    Node node = over != Over.HAZELCAST ? null : get(Node.start(NodeConfig.defaults().withCluster(
        ClusterConfig.of("test-" + UUID.randomUUID(), List.of(), 0)), "rendezvous"));
    Vertx on = node == null ? vertx : node.vertx();
    HttpStoreConfig http = HttpStoreConfig.defaults().with(s -> s.glooPort(0).launchPort(0).keys(100).valueBytes(Store.VALUE_BYTES));
    Supplier<Store> clients = switch (over) {
      case FILE -> () -> new FileStore(on, directory);
      case GLOO -> {
        int port = get(KeyValueServer.gloo(on, "127.0.0.1", http, () -> 0, PeerSecurity.NONE)).port();
        yield () -> HttpStore.gloo(on, new HostPort("127.0.0.1", port), "scope");
      }
      case LAUNCH -> {
        int port = get(KeyValueServer.launch(on, "127.0.0.1", http, () -> 0, PeerSecurity.NONE)).port();
        yield () -> HttpStore.launch(on, new HostPort("127.0.0.1", port), "scope");
      }
      case HAZELCAST -> () -> new HazelcastStore(on);
    };
    Future<Seat> a = join(on, clients.get(), 1, "a", LONG);
    get(clients.get().await("job/group", LONG));
    assertThatThrownBy(() -> get(join(on, clients.get(), 1, "again", Duration.ofMillis(1)))).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 1 of group g is held by a at a:1");
    List<Seat> seats = new ArrayList<>(all(List.of(a, join(on, clients.get(), -1, "b", LONG), join(on, clients.get(), -1, "c", LONG))));
    assertOneGroup(seats, 3);
    assertThat(seats.get(0).membership().rank()).isEqualTo(1);
    get(seats.remove(2).leave());
    seats.forEach(seat -> assertThat(get(seat.gone())).contains("c at c:1"));
    List<Future<Membership>> next = seats.stream().map(seat -> seat.reform(LONG)).toList();
    next.forEach(formed -> get(formed));
    assertOneGroup(seats, 2);
    seats.forEach(seat -> get(seat.leave()));
    if (node != null) {
      get(node.close());
    }
  }

  private Future<Seat> join(Vertx on, Store store, int rank, String member, Duration timeout) {
    StoreRendezvous rendezvous = new StoreRendezvous(on, store.under("job"), PATIENT, new Waits());
    members.add(rendezvous);
    return rendezvous.join(new Joining("g", 2, 3, rank, member, member + ":1", timeout, LONG));
  }

  @Test
  void whenAMemberLeaves_thenTheOthersHearOfItAndFormTheNextGenerationAndTakeNewcomersIn() {
    List<Seat> seats = all(List.of(elastic(2, 4, "a", LONG), elastic(2, 4, "b", LONG), elastic(2, 4, "c", LONG)));
    assertOneGroup(seats, 3);
    Seat gone = seats.stream().filter(s -> s.membership().rank() == 0).findFirst().orElseThrow();
    List<Seat> rest = new ArrayList<>(seats);
    rest.remove(gone);
    get(gone.leave());
    for (Seat seat : rest) {
      assertThat(get(seat.ended())).contains("is over").contains("rank 0").contains("has left or is lost");
      assertThat(get(seat.gone())).contains(gone.membership().endpoints().get(0));
    }
    long before = rest.get(0).membership().generation();
    rest.stream().map(s -> s.reform(LONG)).toList().forEach(re -> get(re));
    assertOneGroup(rest, 2);
    assertThat(rest.get(0).membership().generation()).isGreaterThan(before);

    Future<Seat> newcomer = elastic(2, 4, "d", LONG);
    assertThat(get(rest.get(0).newcomers())).contains("d at d:1");
    assertThat(newcomer.isComplete()).isFalse();
    assertThat(rest.get(0).ended().isComplete()).isFalse();
    Future<Membership> first = rest.get(0).reform(LONG);
    assertThat(get(rest.get(1).ended())).contains("forms the next one");
    assertThat(rest.get(1).gone().isComplete()).isFalse();
    Future<Membership> second = rest.get(1).reform(LONG);
    get(first);
    get(second);
    assertOneGroup(List.of(rest.get(0), rest.get(1), get(newcomer)), 3);
    assertThat(get(newcomer).membership().rank()).as("those who stay keep their ranks").isEqualTo(2);

    get(rest.get(0).leave());
    get(rest.get(1).leave());
    assertThat(get(get(newcomer).reform(LONG, true)).endpoints()).as("at its end, below the minimum").containsExactly("d:1");
  }

  @Test
  void whenAMemberDies_thenItIsLostAfterItsLease_andItsSeatGoesToAnother() {
    List<Seat> seats = all(List.of(fixed(2, 0, "a"), fixed(2, 1, "b")));
    members.get(1).close();
    assertThat(get(seats.get(0).ended())).contains("rank 1 (b at b:1)");
    Future<Membership> next = seats.get(0).reform(LONG);
    Seat other = get(fixed(2, 1, "c"));
    assertThat(get(next).endpoints()).containsExactly("a:1", "c:1");
    assertThat(other.membership().generation()).isEqualTo(get(next).generation());
    assertThatThrownBy(() -> get(seats.get(1).reform(LONG))).isInstanceOf(Cancelled.class)
        .hasMessageContaining("b has given its seat in group g up").hasMessageContaining("was closed");
  }

  @Test
  void whoIsTooLateIsRefused_onceItIsSureThatTheOthersLive_andAStaleGroupStandsInNobodysWay() {
    all(List.of(fixed(2, -1, "a"), fixed(2, -1, "b")));
    assertThatThrownBy(() -> get(fixed(2, -1, "c"))).isInstanceOf(Conflict.class)
        .hasMessageContaining("full").hasMessageContaining("a at a:1");
    members.forEach(StoreRendezvous::close); // without a word, as processes that are killed
    List<Seat> next = all(List.of(fixed(3, -1, "d"), fixed(3, -1, "e"), fixed(3, -1, "f")));
    assertOneGroup(next, 3);
  }

  @Test
  void whoWaitsInVainIsToldForWhom_andLeavesNothingBehind() {
    assertThatThrownBy(() -> get(elastic(2, 3, "a", Duration.ofMillis(150)))).isInstanceOf(PeerLost.class)
        .hasMessageMatching("a has waited in vain for [0-9.]+ s at .*, join of group g: .*")
        .hasMessageContaining("only 1 of at least 2 members of group g").hasMessageContaining("a at a:1");
    MembershipRecord left = MembershipRecord.decode(get(memory.get("job/group")).orElseThrow());
    assertThat(left.everybody()).isEmpty();
    Seat alone = get(elastic(1, 2, "b", LONG));
    Future<Seat> newcomer = elastic(1, 2, "c", Duration.ofMillis(1));
    assertThat(get(alone.newcomers())).contains("c at c:1");
    assertThat(alone.ended().isComplete()).isFalse();
    get(alone.leave(Seat.Leaving.AT_THE_END));
    assertThatThrownBy(() -> get(newcomer)).as("it has waited as long as b went on").isInstanceOf(Conflict.class)
        .hasMessageContaining("the run of group g has ended");
    assertThat(get(elastic(1, 2, "d", LONG)).membership().endpoints()).as("begun anew").containsExactly("d:1");
  }

  private Future<Seat> ofRun(String member, String run) {
    return rendezvous(memory, PATIENT).join(new Joining("g", 1, 2, -1, member, member + ":1", LONG,
        Duration.ofSeconds(1)).ofRun(run));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whoComesAtTheEndOfItsRun_waitsForHowThatEnds(boolean succeeds) {
    List<Seat> seats = all(List.of(ofRun("a", "run-1"), ofRun("b", "run-1")));
    get(seats.get(0).leave(Seat.Leaving.AT_THE_END));
    Future<Seat> late = ofRun("c", "run-1");
    assertThatThrownBy(() -> get(ofRun("d", "run-2"))).as("maybe another run's").isInstanceOf(Conflict.class)
        .hasMessageContaining("too early for d");
    assertThat(late.isComplete()).as("b may still fail").isFalse();
    get(seats.get(1).leave(succeeds ? Seat.Leaving.WITH_SUCCESS : Seat.Leaving.AT_THE_END));
    if (succeeds) {
      assertThatThrownBy(() -> get(late)).isInstanceOf(RunEnded.class).hasMessageContaining("run-1");
    } else {
      assertThat(get(late).membership().endpoints()).as("the run begins anew").containsExactly("c:1");
    }
  }

  /** A store with a slow connection: what is on its way arrives behind what is sent later, if it is not waited for. */
  @Test
  void whoHasLeftLeavesNothingBehind_thoughASignOfLifeIsStillOnItsWay() {
    SlowStore slow = new SlowStore(memory);
    Seat seat = get(rendezvous(slow, HASTY).join(Joining.fixed("g", 1, 0, "a", "a:1", LONG)));
    get(slow.next("job/pulse/"));
    Future<Void> left = seat.leave();
    slow.deliver();
    get(left);
    assertThat(MembershipRecord.decode(get(memory.get("job/group")).orElseThrow()).everybody()).isEmpty();
    assertThat(get(memory.get(slow.heldKey))).isEmpty();
  }

  @Test
  void aStoreThatNeverAnswersEndsTheWait() {
    SlowStore silent = new SlowStore(memory);
    silent.next("job/group");
    assertThatThrownBy(() -> get(rendezvous(silent, HASTY).join(Joining.fixed("g", 1, 0, "a", "a:1", Duration.ofMillis(1)))))
        .isInstanceOf(PeerLost.class).hasMessageContaining("has not answered for 1.5 s");
  }

  @Test
  void aStoreThatFallsSilentEndsTheWaitForTheNextGeneration_thoughThatHasNoLimit() {
    SlowStore silent = new SlowStore(memory);
    Seat seat = get(rendezvous(silent, HASTY).join(Joining.fixed("g", 1, 0, "a", "a:1", Duration.ofSeconds(2))));
    get(silent.next("job/pulse/"));
    assertThatThrownBy(() -> get(seat.reform(Seat.Reform.UNLIMITED))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("a of group g").hasMessageContaining("has not answered for 1.5 s");
  }

  @Test
  void whenTheStoreLosesTheGroup_thenItsMembersAreTold() {
    Seat alone = get(fixed(1, 0, "a"));
    get(memory.delete("job/group"));
    assertThatThrownBy(() -> get(alone.ended())).isInstanceOf(StaleGeneration.class).hasMessageContaining("Join again");
    Seat again = get(fixed(1, 0, "a"));
    assertThat(again.membership().generation()).isGreaterThan(alone.membership().generation());
    assertThat(get(memory.compareAndSet("job/other", Optional.empty(), new byte[0]))).isTrue();
  }
}
