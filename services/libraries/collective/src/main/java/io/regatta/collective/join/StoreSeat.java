package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.Seat;
import io.regatta.collective.join.MembershipRecord.Entry;
import io.regatta.collective.store.Store;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Timer;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.vertx.LoopFutures;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A seat in a group whose rendezvous is a store: it reads the {@link MembershipRecord} periodically and takes the next
 * step. Owned by the loop on which it is created. A store that does not answer is asked again, and a look that gets no
 * answer is logged after a lease. Neither declares a member lost, nor ends the generation, whose members may still
 * reach each other. A seat that waits for a generation gives up when the store has been silent for as long as the
 * join's timeout.
 */
final class StoreSeat extends AbstractSeat {
  private static final Logger LOG = LoggerFactory.getLogger(StoreSeat.class);
  private static final PeerLog LOSSES = PeerLog.ofEvents(LOG);
  private static final PeerLog FORMATIONS = PeerLog.ofEvents(LOG);
  private static final PeerLog TROUBLES = PeerLog.ofEvents(LOG);
  /**
   * Number of members that a member watches, the next ones after it in the record, so that its reads do not grow with
   * the group.
   */
  private static final int WATCHED = 8;
  private static final int AGAIN_MILLIS = 20;
  private static final long LEAVE_MILLIS = 1000;

  private enum Phase { WAITING, SEATED, OVER }

  private final Store store;
  private final RollKey key;
  private final Timing timing;
  private final Waits waits;
  private final Joining joining;
  private final Consumer<StoreSeat> over;
  /** True if most members of a generation must be there to form the next one. */
  private final boolean majority;
  private final String id = UUID.randomUUID().toString();
  private final StoreHeartbeats heartbeats;
  private Phase phase = Phase.WAITING;
  /** The current wait for a generation; of a seat in one the last wait. */
  private StoreWait wait;
  private List<Entry> seated = List.of();
  private boolean complained;
  /** Runs while a look is not answered. */
  private Timer silence = Timer.NONE;
  /** The look under way, or the last one: its change of the store may still happen after this seat has ended. */
  private Future<Boolean> looking = Future.succeededFuture();

  StoreSeat(Vertx vertx, Store store, Timing timing, Waits waits, boolean majority, Joining joining, Consumer<StoreSeat> over) {
    super(VertxLoop.current(vertx));
    this.store = store;
    this.timing = timing;
    this.waits = waits;
    this.joining = joining;
    this.over = over;
    this.majority = majority;
    this.key = new RollKey(loop().clock(), store, joining);
    this.heartbeats = new StoreHeartbeats(store, id, timing, loop().clock()::nanos);
  }

  Future<Seat> join() {
    Promise<Membership> formed = loop().promise();
    loop().execute(() -> {
      begin(formed, joining.timeout(), false);
      look();
    });
    return formed.future().map(this);
  }

  private void begin(Promise<Membership> formed, Duration timeout, boolean ending) {
    String what = (membership() == null ? "join of group " : "next generation of group ") + joining.group();
    wait = new StoreWait(loop().clock(), waits, joining, store, what, timeout, ending, formed);
  }

  private void look() {
    if (phase == Phase.OVER) {
      return;
    }
    looking = key.look().compose(this::consider);
    silence = loop().every(timing.lease().toMillis(), this::unanswered);
    looking.onComplete(done -> {
      silence.cancel();
      if (done.failed()) {
        troubled(done.cause());
      } else {
        complained = false;
      }
      if (phase == Phase.OVER) {
        return;
      }
      boolean soon = done.succeeded() && done.result();
      loop().after(soon ? 1 + ThreadLocalRandom.current().nextInt(AGAIN_MILLIS) : timing.poll().toMillis(), this::look);
    });
  }

  /**
   * Reports that the look under way has taken a lease, or one more. No other look is begun beside it: its result would
   * be out of date.
   */
  private void unanswered() {
    if (phase == Phase.OVER) {
      silence.cancel();
    } else {
      troubled(new PeerLost(joining.member() + " of group " + joining.group() + ": " + store + " has not answered for "
          + timing.seconds() + "; look at the store"));
    }
  }

  /** Considers a look. Returns whether to look again soon, because something has changed or is being changed. */
  private Future<Boolean> consider(RollKey.Held seen) {
    MembershipRecord roll = seen.roll();
    Future<Void> beat = roll.everybody().anyMatch(entry -> entry.id().equals(id)) ? heartbeats.beat()
        : Future.succeededFuture();
    return beat.compose(v -> heartbeats.lost(roll.behind(id, WATCHED))).compose(lost -> {
      if (phase == Phase.OVER) {
        return Future.succeededFuture(false);
      }
      if (!lost.isEmpty()) {
        return change(seen, roll.lose(lost.stream().map(Entry::id).toList()))
            .compose(v -> {
              LOSSES.warn("group {}: lost, no heartbeat within {}: {}", roll.group(), timing.seconds(), lost);
              return heartbeats.forget(lost);
            }, Future::failedFuture)
            .map(true);
      }
      if (majority && !roll.hasMajority() && roll.everybody().anyMatch(entry -> entry.id().equals(id))) {
        return Future.failedFuture(new StaleGeneration(roll.withoutMajority() + ": the others may live on the other side of a split "
            + "network and continue, so " + joining.member() + " ends. Look at the network, and start the job again or resume it. If "
            + "there can be no split, collective.quorum: none lets any number continue"));
      }
      return phase == Phase.WAITING ? proceed(seen) : keep(roll);
    });
  }

  private Future<Boolean> proceed(RollKey.Held seen) {
    MembershipRecord roll = seen.roll();
    wait.sees(roll, membership() == null);
    boolean member = roll.member(id).isPresent();
    if (member && roll.isWhole() && (membership() == null || roll.formed() > membership().generation())) {
      seated(roll);
      return Future.succeededFuture(false);
    }
    if (member) {
      return change(seen, wait.ending() ? roll.reform(id).end() : roll.reform(id));
    }
    if (membership() == null && roll.awaitsEnd(joining)) { // whether anything is left to do depends on how the run ends
      return roll.isWaiting(id) ? change(seen, roll.without(List.of(id))) : Future.succeededFuture(false);
    }
    if (roll.isWaiting(id) && membership() == null && roll.ended()) {
      return withdrawn(seen, roll.late(joining));
    }
    if (roll.isWaiting(id)) {
      return roll.isReady(wait.isSettled()) ? change(seen, roll.form(loop().clock().epochMillis())) : expire(seen);
    }
    if (membership() != null) {
      return Future.failedFuture(lost());
    }
    try {
      return change(seen, roll.enter(id, joining));
    } catch (Conflict refusal) {
      // The members in the way may be dead: the store does not know.
      return wait.isLate() || heartbeats.haveMoved(roll.everybody().toList()) ? Future.failedFuture(refusal)
          : Future.succeededFuture(false);
    }
  }

  private Future<Boolean> expire(RollKey.Held seen) {
    return !wait.isLate() ? Future.succeededFuture(false) : withdrawn(seen, wait.tooLate(seen.roll()));
  }

  private Future<Boolean> withdrawn(RollKey.Held seen, RegattaException why) {
    return key.change(seen, seen.roll().without(List.of(id)))
        .compose(withdrawn -> withdrawn ? Future.failedFuture(why) : Future.succeededFuture(true));
  }

  private Future<Boolean> change(RollKey.Held seen, MembershipRecord roll) {
    return key.change(seen, roll).map(true);
  }

  private void seated(MembershipRecord roll) {
    Entry mine = roll.member(id).orElseThrow();
    seated = roll.members();
    begins(new Membership(roll.group(), roll.formed(), mine.rank(), seated.stream().map(Entry::endpoint).toList()));
    phase = Phase.SEATED;
    FORMATIONS.info("{} is {}", joining.member(), membership());
    wait.formed(membership());
  }

  private Future<Boolean> keep(MembershipRecord roll) {
    if (roll.member(id).isEmpty()) {
      return Future.failedFuture(lost());
    }
    if (roll.generation() != membership().generation()) {
      isOver("generation " + membership().generation() + " of group " + roll.group() + " is over: "
          + seated.stream().filter(entry -> roll.member(entry.id()).isEmpty())
              .map(entry -> "rank " + entry.rank() + " (" + entry + (roll.isWaiting(entry.id())
                  ? ") forms the next one" : ") has left or is lost")).toList());
      List<Entry> gone = seated.stream().filter(entry -> roll.member(entry.id()).isEmpty() && !roll.isWaiting(entry.id())).toList();
      if (!gone.isEmpty()) {
        areGone(gone.toString());
      }
    }
    if (!roll.newcomers().isEmpty()) {
      hasNewcomers("newcomers of group " + roll.group() + ": " + roll.newcomers());
    }
    return Future.succeededFuture(false);
  }

  private StaleGeneration lost() {
    return new StaleGeneration(membership() + ", was declared lost: no heartbeat at " + store + " within "
        + timing.seconds() + ", or the store has lost its content. Join again");
  }

  /** Handles a failure. A store that is gone, or full, may come back; waiting repairs nothing else. */
  private void troubled(Throwable e) {
    if (phase == Phase.OVER) { // it has left, or was given up: nothing continues, and the log must not say so
      return;
    }
    boolean late = phase == Phase.WAITING && wait.troubles(e);
    if (!late && (e instanceof PeerLost || e instanceof Overloaded)) {
      if (!complained) {
        complained = true;
        TROUBLES.warn("group {}: {} continues, and tries again every {} ms: {}", joining.group(), joining.member(),
            timing.poll().toMillis(), e.getMessage());
      }
      return;
    }
    end(e);
  }

  /** Ends the seat; its entries at the store are removed after the writes that are on their way. */
  private Future<Void> end(Throwable why) {
    return end(why, Leaving.BEFORE_THE_END);
  }

  private Future<Void> end(Throwable why, Leaving when) {
    if (phase == Phase.OVER) {
      return Future.succeededFuture();
    }
    endHere(why);
    return looking.transform(done -> key.withdraw(id, when)).eventually(heartbeats::end)
        .onFailure(e -> LOG.debug("group {}: {}", joining.group(), e.toString()));
  }

  private void endHere(Throwable why) {
    phase = Phase.OVER;
    wait.fail(why);
    fail(why);
    over.accept(this);
  }

  @Override
  public Future<Membership> reform(Reform how) {
    Promise<Membership> formed = loop().promise();
    loop().execute(() -> {
      if (phase != Phase.SEATED) {
        formed.fail(phase == Phase.OVER ? givenUp(joining) : new Conflict(joining.member() + " waits already, " + wait.what()
            + ", since " + wait.waited() + "; call reform once for each generation"));
        return;
      }
      phase = Phase.WAITING;
      isOver(joining.member() + " forms the next generation");
      begin(formed, how.timeout(), how.ending());
    });
    return formed.future();
  }

  @Override
  public Future<Void> leave(Leaving when) {
    Promise<Void> left = loop().promise();
    loop().execute(() -> {
      if (phase == Phase.OVER) {
        left.complete();
        return;
      }
      LoopFutures.within(loop(), LEAVE_MILLIS,
          end(new Cancelled(joining.member() + " has left group " + joining.group()), when)).onComplete(done -> {
            if (done.failed()) {
              TROUBLES.warn("{} could not leave group {}, its lease will end it: {}", joining.member(), joining.group(),
                  done.cause().getMessage());
            }
            left.complete();
          });
    });
    return left.future();
  }

  /** Abandons the seat without notice to the store, as if the process had ended. */
  void giveUp() {
    loop().execute(() -> {
      if (phase != Phase.OVER) {
        endHere(new Cancelled("the rendezvous of group " + joining.group() + " was closed"));
      }
    });
  }
}
