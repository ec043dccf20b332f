package io.regatta.collective.join;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.node.Node;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Seats at a real rendezvous service. */
@ExtendWith(BlockedLoopGuard.class)
class ServiceRendezvousTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final Vertx vertx = Vertx.vertx();
  private final Directory directory = new HazelcastDirectory(vertx, new Waits(), 10);
  private final Node node = Node.embedded(vertx, directory, "test");
  private ServiceRendezvous rendezvous;

  @BeforeEach
  void start() {
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
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
    return rendezvous.join(new Joining("g", 2, 3, -1, member, member + ":1", LONG, LONG));
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
}
