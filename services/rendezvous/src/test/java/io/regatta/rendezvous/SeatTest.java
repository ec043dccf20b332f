package io.regatta.rendezvous;

import static io.regatta.rendezvous.RunningRendezvous.get;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.node.directory.Directory;
import io.regatta.node.group.Membership;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

/** A service's seat at a real rendezvous: {@link Membership}. */
@ExtendWith(BlockedLoopGuard.class)
class SeatTest {

  private final RunningRendezvous rendezvous = new RunningRendezvous(RunningRendezvous.hasty());
  private final AtomicLong step = new AtomicLong(-1);
  /** Views that seats were told of, on their one loop. */
  private final List<GroupView> changed = new ArrayList<>();
  private final Promise<RegattaException> givenUp = Promise.promise();

  @Test
  void joinsAndGathersSayWhoIsMissingAndHowFarItIs() {
    Membership first = membership();
    Future<Void> joined = join(first, 0);
    assertThat(missingIn("join of group job")).isEqualTo("trainer 1, step -1");
    Membership second = membership();
    get(join(second, 1));
    get(joined);
    assertThat(List.of(first.rank(), second.rank())).containsExactly(0, 1);
    assertThat(second.incarnation()).isGreaterThan(first.incarnation());

    step.set(41);
    Future<List<ByteString>> gather = on(() -> first.gather("barrier-0", new byte[] {7}));
    while (!missing(first, "barrier-0").equals("trainer 1, step 41")) { // by the next heartbeat
      get(rendezvous.vertx.timer(50).mapEmpty());
    }
    get(on(() -> second.gather("barrier-0", new byte[] {8})));
    assertThat(get(gather)).extracting(bytes -> bytes.byteAt(0)).containsExactly((byte) 7, (byte) 8);
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
    Membership first = membership();
    Membership second = membership();
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
    Membership seat = membership();
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
    Logger logger = (Logger) LoggerFactory.getLogger(Membership.class);
    logger.addAppender(log);
    Membership seat = membership();
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
    BlackHole hole = new BlackHole(rendezvous.vertx, rendezvous.verticle.port());
    Directory.Instance real = get(rendezvous.directory.list(Directory.RENDEZVOUS)).get(0);
    Directory.Instance at = new Directory.Instance(real.service(), real.id(), real.index(), "127.0.0.1", hole.port(),
        real.incarnation(), real.attributes());
    Membership seat = get(on(() -> Future.succeededFuture(new Membership(rendezvous.node, at, "job", "trainer", step::get,
        changed::add, givenUp::complete))));
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
    return new RendezvousConfig(rendezvous.verticle.port(), hasty.leaseMs(), hasty.tickMs(), hasty.maxWaitMs(),
        hasty.messageBytes(), hasty.limits());
  }

  private Membership membership() {
    Directory.Instance at = get(rendezvous.directory.list(Directory.RENDEZVOUS)).get(0);
    return get(on(() -> Future.succeededFuture(new Membership(rendezvous.node, at, "job", "trainer", step::get,
        changed::add, givenUp::complete))));
  }

  private Future<Void> join(Membership seat, int rank) {
    return on(() -> seat.join("trainer " + rank, 2, rank, "trainer-" + rank, "", Duration.ofSeconds(20)));
  }

  private Future<Void> join1(Membership seat) {
    return on(() -> seat.join("trainer", 1, -1, "alone", "", Duration.ofSeconds(20)));
  }

  private String missing(Membership seat, String key) {
    return described(get(seat.missing(key)));
  }

  /** For whom the wait of this operation is shown to wait, once it is there. */
  private String missingIn(String operation) {
    String shown = "";
    while (!shown.contains("step")) {
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
