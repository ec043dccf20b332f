package io.regatta.collective.join;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.collective.Seat.Reform;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Seats at a real rendezvous service. */
@ExtendWith(BlockedLoopGuard.class)
class ServiceRendezvousTest {
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration LEASE = Duration.ofMinutes(10);

  private final Vertx vertx = Vertx.vertx();
  private final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  private final Node node = Node.embedded(vertx, directory, "test");
  private ServiceRendezvous rendezvous;
  private String deployed;

  @BeforeEach
  void start() {
    start(RendezvousConfig.defaults());
  }

  private void start(RendezvousConfig config) {
    deployed = get(vertx.deployVerticle(new RendezvousVerticle(node, config)));
    rendezvous = get(ServiceRendezvous.find(node, LONG, "test"));
  }

  @AfterEach
  void stop() {
    get(rendezvous.close());
    get(node.close());
    get(directory.close());
    get(vertx.close());
  }

  private Future<Seat> join(String member) {
    return rendezvous.join(joining(member));
  }

  private static Joining joining(String member) {
    return new Joining("g", 2, 3, -1, member, member + ":1", LONG, LONG);
  }

  @Test
  void membersComeAndGo() {
    List<Seat> seats = List.of(join("a"), join("b"), join("c")).stream().map(seat -> get(seat)).toList();
    assertThat(seats).extracting(s -> s.membership().endpoints()).containsOnly(seats.get(0).membership().endpoints());
    assertThat(seats).extracting(s -> s.membership().rank()).containsExactlyInAnyOrder(0, 1, 2);
    assertThatThrownBy(() -> get(join("d"))).isInstanceOf(Conflict.class).hasMessageContaining("too late");

    long before = seats.get(0).membership().generation();
    get(seats.get(2).leave());
    assertThat(get(seats.get(0).ended())).contains("c at c:1").contains("has left");
    assertThat(get(seats.get(0).gone())).contains("c at c:1");
    Future<Membership> first = seats.get(0).reform(LONG);
    get(seats.get(1).ended());
    Future<Membership> second = seats.get(1).reform(LONG);
    assertThat(get(first).generation()).isEqualTo(get(second).generation()).isGreaterThan(before);
    assertThat(get(first).worldSize()).isEqualTo(2);

    Future<Seat> newcomer = join("e");
    assertThat(get(seats.get(0).newcomers())).contains("e at e:1");
    assertThat(seats.get(0).ended().isComplete()).isFalse();
    seats.get(0).reform(LONG);
    assertThat(get(seats.get(1).ended())).contains("forms the next one");
    assertThat(seats.get(1).gone().isComplete()).isFalse();
    assertThat(get(seats.get(1).reform(LONG)).endpoints()).contains("e:1").hasSize(3);
    assertThat(get(newcomer).membership().rank()).isEqualTo(2);

    get(seats.get(0).leave());
    get(seats.get(1).leave());
    assertThat(get(get(newcomer).reform(LONG, true)).endpoints()).as("at its end, below the minimum").containsExactly("e:1");
  }

  @Test
  void whoLeavesWhileTheNextGenerationFormsIsGone() {
    List<Seat> seats = List.of(join("a"), join("b"), join("c")).stream().map(seat -> get(seat)).toList();
    Future<Membership> b = seats.get(1).reform(LONG);
    Future<Membership> c = seats.get(2).reform(LONG);
    Future<Membership> a = seats.get(0).reform(LONG); // the last one: it forms at once
    get(seats.get(0).leave());
    assertThatThrownBy(() -> get(a.compose(v -> seats.get(0).reform(LONG)))).isInstanceOf(RegattaException.class);
    get(b);
    get(c);
    assertThat(get(seats.get(1).ended())).isNotEmpty();
    Future<Membership> next = seats.get(1).reform(LONG);
    assertThat(get(seats.get(2).reform(LONG)).endpoints()).doesNotContain("a:1").hasSize(2);
    get(next);
  }

  @Test
  void whoAsksForMoreOfASeatThatIsLostIsToldWhy() {
    List<Seat> seats = List.of(join("a"), join("b"), join("c")).stream().map(seat -> get(seat)).toList();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", rendezvousAt().controlPort());
    Seat seat = seats.get(0);
    int rank = seat.membership().rank();
    long incarnation = view(client).getMembers(rank).getIncarnation();
    assertThatThrownBy(() -> get(client.leave("g", rank, incarnation, ByteString.EMPTY)))
        .as("what everybody sees is not enough")
        .isInstanceOf(StaleGeneration.class);
    get(client.leave("g", rank, incarnation, ((ServiceSeat) seat).secret()));
    assertThatThrownBy(() -> get(seat.reform(LONG))).isInstanceOf(StaleGeneration.class);
    assertThatThrownBy(() -> get(seat.reform(LONG))).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("has given its seat in group g up").hasMessageContaining("has left. Join again");
    get(client.close());
  }

  private static Reform lacking(int rank) {
    return new Reform(LONG, false, List.of(rank), true);
  }

  /** Two see it dead: another member, and the rendezvous, which it does not answer. Nobody here waits until its lease ends. */
  @Test
  void whoIsDeadIsLostAtOnce_whenAnotherSaysSo() {
    get(rendezvous.close().compose(closed -> vertx.undeploy(deployed)));
    start(Settings.bind(new JsonObject().put("lease_ms", LEASE.toMillis()), RendezvousConfig.class));
    Vertx other = Vertx.vertx();
    Node another = Node.embedded(other, directory, "another");
    Future<Seat> last = new ServiceRendezvous(another, rendezvousAt()).join(joining("c"));
    List<Seat> seats = List.of(join("a"), join("b")).stream().map(seat -> get(seat)).toList();
    int rank = get(last).membership().rank();
    Future<Membership> second = seats.get(1).reform(LONG);
    get(get(last).ended()); // It follows the group: only who has done so can be asked.
    get(other.close()); // without a word
    Future<Membership> first = seats.get(0).reform(lacking(rank));
    assertThat(get(first).endpoints()).containsExactlyInAnyOrder("a:1", "b:1");
    assertThat(get(second).generation()).isEqualTo(get(first).generation());
  }

  @Test
  void whoLivesAnswersTheRendezvous_whateverAnotherSays() {
    List<Seat> seats = List.of(join("a"), join("b"), join("c")).stream().map(seat -> get(seat)).toList();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", rendezvousAt().controlPort());
    Future<Membership> first = seats.get(0).reform(lacking(seats.get(1).membership().rank()));
    for (GroupView view = view(client); view.getAskedCount() > 0 || view.getGeneration() == seats.get(2).membership().generation();
        view = view(client)) {
      assertThat(view.getMembersList()).allMatch(member -> member.getState().equals("active"));
    }
    Future<Membership> second = seats.get(1).reform(LONG);
    Future<Membership> third = seats.get(2).reform(LONG);
    assertThat(get(first).worldSize()).isEqualTo(3);
    assertThat(List.of(get(second), get(third))).extracting(Membership::worldSize).containsOnly(3);
    get(client.close());
  }

  private static GroupView view(RendezvousClient client) {
    return get(client.groups("g")).getGroups(0);
  }

  private Directory.Instance rendezvousAt() {
    return get(node.directory().list(Directory.RENDEZVOUS)).get(0);
  }

  /** Passes all on to the rendezvous, until its connections are cut; new ones are taken. */
  private final class Cable {
    private final List<NetSocket> sockets = new CopyOnWriteArrayList<>();
    private final NetServer server;

    Cable(int target) {
      NetClient client = vertx.createNetClient();
      server = get(vertx.createNetServer().connectHandler(in -> {
        sockets.add(in);
        in.pause();
        client.connect(target, "127.0.0.1").onFailure(e -> in.close()).onSuccess(out -> {
          in.pipeTo(out);
          out.pipeTo(in);
        });
      }).listen(0, "127.0.0.1"));
    }

    void cut() {
      sockets.forEach(NetSocket::close);
      sockets.clear();
    }
  }

  private static void awaitJoins(RendezvousClient client, boolean any) {
    long deadline = System.nanoTime() + LONG.toNanos();
    while (get(client.groups("g")).getGathersCount() > 0 != any) {
      assertThat(System.nanoTime()).as("joins wait: " + any).isLessThan(deadline);
    }
  }

  /** Cuts it while somebody waits over it to join, and returns when the rendezvous knows of nobody who waits. */
  private void cutWaiting(Cable cable, RendezvousClient client) {
    awaitJoins(client, true);
    cable.cut();
    awaitJoins(client, false);
  }

  /** Its connections are cut while it waits to join, and to form the next generation: it is in both. */
  @Test
  void aConnectionThatBreaksWhileAGenerationFormsIsMadeAgain() {
    Directory.Instance at = rendezvousAt();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", at.controlPort());
    Cable cable = new Cable(at.controlPort());
    ServiceRendezvous cut = new ServiceRendezvous(node, new Directory.Instance(at.service(), at.id(), at.index(), "127.0.0.1",
        cable.server.actualPort(), at.incarnation(), at.attributes()));
    Future<Seat> joined = cut.join(joining("a"));
    cutWaiting(cable, client);
    List<Seat> others = List.of(join("b"), join("c")).stream().map(seat -> get(seat)).toList();
    Seat seat = get(joined);
    assertThat(seat.membership().worldSize()).isEqualTo(3);
    get(others.get(0).leave());
    Future<Membership> next = seat.reform(LONG);
    cutWaiting(cable, client);
    assertThat(get(others.get(1).reform(LONG)).endpoints()).containsExactlyInAnyOrder("a:1", "c:1");
    assertThat(get(next).worldSize()).isEqualTo(2);
    get(cut.close());
    get(client.close());
  }
}
