package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.failure;
import static io.regatta.rendezvous.RunningRendezvous.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.Int32Value;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.core.group.WorldSize;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.RepeatedCall;
import io.regatta.node.group.GroupMembership;
import io.regatta.node.group.MemberContext;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** A service's seat at a real rendezvous: {@link GroupMembership}. */
@ExtendWith(BlockedLoopGuard.class)
class SeatTest {

  private final RunningRendezvous rendezvous = new RunningRendezvous(RunningRendezvous.hasty());
  private final AtomicLong step = new AtomicLong(-1);
  /** Views that seats were notified of, on their one loop. */
  private final List<GroupView> changed = new ArrayList<>();
  private final Promise<RegattaException> givenUp = Promise.promise();

  @Test
  void joinsAndGathersSayWhoIsMissingAndHowFarItIs() {
    GroupMembership first = membership();
    Future<Void> joined = join(first, 0);
    assertThat(missingIn("join of group job", "trainer")).isEqualTo("trainer 1, step -1");
    GroupMembership second = membership();
    get(join(second, 1));
    get(joined);
    assertThat(List.of(first.rank(), second.rank())).containsExactly(0, 1);
    assertThat(second.incarnation()).isGreaterThan(first.incarnation());

    step.set(41);
    Future<List<Int32Value>> gather = on(() -> first.gather("barrier-0", Int32Value.of(7)));
    while (!missing(first, "barrier-0").equals("trainer 1, step 41")) { // by the next heartbeat
      get(rendezvous.vertx.timer(50).mapEmpty());
    }
    get(on(() -> second.gather("barrier-0", Int32Value.of(8))));
    assertThat(get(gather)).extracting(Int32Value::getValue).containsExactly(7, 8);
    assertThat(missing(first, "barrier-0")).as("over").isEmpty();
    get(on(first::leave));
    get(on(second::leave));
    assertThat(get(rendezvous.client.groups()).getGroupsList()).isEmpty();
    assertThat(givenUp.future().isComplete()).isFalse();
    rendezvous.close();
  }

  @Test
  void theOthersAreToldWhoHasLeftAndHowFarItWas() {
    step.set(7);
    GroupMembership first = membership();
    GroupMembership second = membership();
    Future<Void> joined = join(first, 0);
    get(join(second, 1));
    get(joined);
    while (get(rendezvous.client.groups()).getGroups(0).getMembers(1).getLastStep() < 7) { // by the next heartbeat
      get(rendezvous.vertx.timer(20).mapEmpty());
    }
    get(on(second::leave));
    while (get(on(() -> Future.succeededFuture(changed.isEmpty())))) {
      get(rendezvous.vertx.timer(20).mapEmpty());
    }
    Member gone = changed.get(0).getMembers(1);
    assertThat(gone.getState()).isEqualTo("left");
    assertThat(gone.getLastStep()).isEqualTo(7);
    get(on(first::leave));
    assertThat(changed).as("told once, and nothing after the own leave").hasSize(1);
    rendezvous.close();
  }

  @Test
  void aSeatThatTheRendezvousDoesNotKnowAnyMoreIsGivenUpOnce() {
    GroupMembership seat = membership();
    get(join1(seat));
    rendezvous.stop();
    get(rendezvous.vertx.deployVerticle(new RendezvousVerticle(rendezvous.node, atSamePort())));
    assertThat(get(givenUp.future())).isInstanceOf(StaleGeneration.class).hasMessageContaining("no group job");
    get(on(seat::leave)); // there is nothing to leave: at once
    rendezvous.close();
  }

  /** As when all services are stopped at once. */
  @Test
  void leavingARendezvousThatIsGoneIsNoNews() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(GroupMembership.class);
    logger.addAppender(log);
    GroupMembership seat = membership();
    get(join1(seat));
    rendezvous.stop();
    get(on(seat::leave));
    logger.detachAppender(log);
    assertThat(log.list).filteredOn(line -> line.getFormattedMessage().contains("leave")).isEmpty();
    rendezvous.close();
  }

  /** Between the seat and the rendezvous packets of the flows under way are dropped; new connections pass. */
  @Test
  void beatsOverANewConnection_whenAFlowIsBlackHoled() {
    BlackHole hole = new BlackHole(rendezvous.vertx, rendezvous.verticle.port(), 0, 0);
    GroupMembership seat = membership(at(hole.port()));
    get(join1(seat));
    awaitStep(1); // a beat has gone over the flow
    hole.swallow();
    awaitStep(2);
    assertThat(hole.connections()).as("of calls, of beats, and the one that replaced it").isGreaterThanOrEqualTo(3);
    assertThat(givenUp.future().isComplete()).isFalse();
    get(on(seat::leave));
    hole.close();
    rendezvous.close();
  }

  /** As on a machine so busy that no connection to the rendezvous is made in time. */
  @Test
  void joins_whenThePortOpensLater() throws Exception {
    int port = FreePorts.one();
    ListAppender<ILoggingEvent> log = logOf(RepeatedCall.class);
    GroupMembership seat = membership(at(port));
    Future<Void> joined = join1(seat);
    awaitLines(log, "waits for the rendezvous at 127.0.0.1:" + port);
    assertThat(missingIn("join of group job", "rendezvous")).isEqualTo("the rendezvous at 127.0.0.1:" + port + ", step -2");
    BlackHole late = new BlackHole(rendezvous.vertx, rendezvous.verticle.port(), port, 0);
    get(joined);
    assertThat(log.list).filteredOn(line -> line.getFormattedMessage().contains("waits for")).as("said once").hasSize(1);
    get(on(seat::leave));
    late.close();
    rendezvous.close();
  }

  /** A connection that the system has accepted, and of which the process never hears, is not waited for twice. */
  @Test
  void joins_whenTheFirstConnectionIsSwallowed() {
    BlackHole hole = new BlackHole(rendezvous.vertx, rendezvous.verticle.port(), 0, 1);
    Node hasty = hasty(8);
    GroupMembership seat = membership(hasty, at(hole.port()));
    get(join1(seat));
    assertThat(hole.connections()).as("the swallowed one, and another").isGreaterThanOrEqualTo(2);
    get(on(seat::leave));
    get(hasty.close());
    hole.close();
    rendezvous.close();
  }

  @Test
  void saysForWhomItHasWaited_whenThePortNeverOpens() throws Exception {
    Node hasty = hasty(1);
    int port = FreePorts.one();
    GroupMembership seat = membership(hasty, at(port));
    assertThat(failure(join1(seat))).isInstanceOf(PeerLost.class)
        .hasMessageMatching("trainer has waited for its join of group job, and the rendezvous at 127.0.0.1:" + port
            + " has not answered for \\d+\\.\\d s: .*; start it, and then this one again");
    get(on(seat::leave));
    assertThat(get(hasty.waits().list())).isEmpty();
    get(hasty.close());
    rendezvous.close();
  }

  @Test
  void asksNoMore_whenTheSeatIsGivenUpMeanwhile() throws Exception {
    GroupMembership seat = membership(at(FreePorts.one()));
    ListAppender<ILoggingEvent> log = logOf(RepeatedCall.class);
    Future<Void> joined = join1(seat);
    awaitLines(log, "waits for");
    get(on(seat::leave));
    assertThat(failure(joined)).isInstanceOf(Cancelled.class).hasMessageContaining("has left group job while it joined");
    assertThat(get(rendezvous.node.waits().list())).isEmpty();
    rendezvous.close();
  }

  private Node hasty(int readySeconds) {
    return get(Node.embedded(rendezvous.vertx, rendezvous.directory,
        NodeConfig.defaults().withReadyTimeoutSeconds(readySeconds), "test"));
  }

  private static ListAppender<ILoggingEvent> logOf(Class<?> of) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.list = new CopyOnWriteArrayList<>();
    log.start();
    ((Logger) LoggerFactory.getLogger(of)).addAppender(log);
    return log;
  }

  private void awaitLines(ListAppender<ILoggingEvent> log, String words) {
    while (log.list.stream().noneMatch(line -> line.getFormattedMessage().contains(words))) {
      get(rendezvous.vertx.timer(20).mapEmpty());
    }
  }

  private Directory.Instance at(int port) {
    Directory.Instance real = get(rendezvous.directory.list(Directory.RENDEZVOUS)).get(0);
    return new Directory.Instance(real.service(), real.id(), real.index(), "127.0.0.1", port, real.incarnation(), real.attributes());
  }

  private GroupMembership membership(Directory.Instance at) {
    return membership(rendezvous.node, at);
  }

  private GroupMembership membership(Node node, Directory.Instance at) {
    return get(on(() -> Future.succeededFuture(new GroupMembership(MemberContext.of(node), at, "job", "trainer", step::get, changed::add,
        givenUp::complete))));
  }

  /** Until the rendezvous has heard of this step, by a beat. */
  private void awaitStep(long wanted) {
    step.set(wanted);
    while (get(rendezvous.client.groups()).getGroups(0).getMembers(0).getLastStep() < wanted) {
      assertThat(givenUp.future().isComplete()).as("given up").isFalse();
      get(rendezvous.vertx.timer(20).mapEmpty());
    }
  }

  private RendezvousConfig atSamePort() {
    RendezvousConfig hasty = RunningRendezvous.hasty();
    return hasty.withPort(rendezvous.verticle.port());
  }

  private GroupMembership membership() {
    return membership(get(rendezvous.directory.list(Directory.RENDEZVOUS)).get(0));
  }

  private Future<Void> join(GroupMembership seat, int rank) {
    return on(() -> seat.join("trainer " + rank, WorldSize.fixed(2), rank, "trainer-" + rank, "", Duration.ofSeconds(20)));
  }

  private Future<Void> join1(GroupMembership seat) {
    return on(() -> seat.join("trainer", WorldSize.fixed(1), -1, "alone", "", Duration.ofSeconds(20)));
  }

  private String missing(GroupMembership seat, String key) {
    return described(get(seat.missing(key)));
  }

  /** Returns the peers that the wait of this operation is shown for, once they are of this kind. */
  private String missingIn(String operation, String kind) {
    String shown = "";
    while (!shown.contains(kind)) {
      shown = described(get(rendezvous.node.waits().list()).stream()
          .filter(wait -> wait.operation().equals(operation)).flatMap(wait -> wait.waitsFor().stream()).toList());
    }
    return shown;
  }

  private static String described(List<Wait.Peer> peers) {
    return String.join("; ", peers.stream().map(p -> p.name() + ", step " + p.lastStep()).toList());
  }

  /** Calls on the one loop that owns the seats. */
  private <T> Future<T> on(Supplier<Future<T>> call) {
    Promise<T> promise = Promise.promise();
    rendezvous.vertx.getOrCreateContext().runOnContext(v -> call.get().onComplete(promise));
    return promise.future();
  }
}
