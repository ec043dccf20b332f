package io.regatta.collective.join;

import io.regatta.collective.Joining;
import io.regatta.collective.Membership;
import io.regatta.collective.join.MembershipRecord.Entry;
import io.regatta.collective.store.Store;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Stopwatch;
import io.regatta.node.admin.Waits;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;

/**
 * One wait of a {@link StoreSeat} for a generation: the missing members, the time, and whether waiting for more is
 * useless. On the seat's loop.
 */
final class StoreWait {
  private final Joining joining;
  private final Store store;
  private final String what;
  private final Duration timeout;
  private final boolean ending;
  private final Promise<Membership> formed;
  private final Waits.Handle shown;
  private final Clock clock;
  private final Stopwatch waiting;
  private List<String> comeIds = List.of();
  private Stopwatch sinceCome;
  /** Time since the store last answered a look with a record. */
  private Stopwatch sinceHeard;
  /** True if there are members, which may let this newcomer in. */
  private boolean goesOn;
  /** The peers for {@code /why}, on any thread. */
  private volatile List<Wait.Peer> peers = List.of();

  /**
   * @param what of the wait, for messages, e.g. {@code next generation of group lenet}
   * @param ending whether a generation of any size will do, which takes no newcomers in
   */
  StoreWait(Clock clock, Waits waits, Joining joining, Store store, String what, Duration timeout, boolean ending, Promise<Membership> formed) {
    this.clock = clock;
    waiting = Stopwatch.start(clock);
    sinceCome = waiting;
    sinceHeard = waiting;
    this.joining = joining;
    this.store = store;
    this.what = what;
    this.timeout = timeout;
    this.ending = ending;
    this.formed = formed;
    shown = waits.begin(joining.member(), what, store.toString(), () -> Future.succeededFuture(peers));
  }

  boolean ending() {
    return ending;
  }

  String what() {
    return what;
  }

  /** Returns how long it has lasted, for messages. */
  String waited() {
    return waiting.toString();
  }

  /** Returns true if it has lasted long enough. A newcomer waits as long as there are members that may let it in. */
  boolean isLate() {
    return !goesOn && waiting.nanos() >= timeout.toNanos();
  }

  /**
   * Takes in the current record.
   *
   * @param newcomer whether the seat has not been in a generation
   */
  void sees(MembershipRecord roll, boolean newcomer) {
    sinceHeard = Stopwatch.start(clock);
    goesOn = newcomer && !roll.members().isEmpty();
    peers = roll.members().isEmpty() ? List.of(Wait.Peer.named(roll.missing()))
        : roll.members().stream().map(entry -> Wait.Peer.named(entry.toString())).toList();
    List<String> come = roll.waiting().stream().map(Entry::id).toList();
    if (!come.equals(comeIds)) {
      comeIds = come;
      sinceCome = sinceHeard;
    }
  }

  /** Returns true if nobody has come for a while. */
  boolean isSettled() {
    return sinceCome.nanos() >= joining.settle().toNanos();
  }

  /** Handles a look that has failed. Returns whether that ends the wait. */
  boolean troubles(Throwable e) {
    peers = List.of(Wait.Peer.named(String.valueOf(e.getMessage())));
    return isLate() || sinceHeard.nanos() >= joining.timeout().toNanos();
  }

  PeerLost tooLate(MembershipRecord roll) {
    return new PeerLost(joining.member() + " has waited in vain for " + waited() + " at " + store + ", " + what + ": "
        + roll.missing());
  }

  void formed(Membership membership) {
    shown.close();
    formed.complete(membership);
  }

  void fail(Throwable why) {
    shown.close();
    formed.tryFail(why);
  }
}
