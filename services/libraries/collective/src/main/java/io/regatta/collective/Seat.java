package io.regatta.collective;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * A member's place in a group, from its join until it leaves or is declared lost, through one generation after the
 * other. Heartbeats of its own keep it. Any thread; futures complete on the context on which the member joined.
 */
public interface Seat {

  /** Returns the membership in the current generation. */
  Membership membership();

  /**
   * Completes, with the reason as text, when the current generation is over: a member has left, is lost, or already
   * waits for the next one. No collective of this generation can succeed any more; {@link #reform} notifies the others.
   * Fails with {@code StaleGeneration} if this member was declared lost itself, and must join anew. While the
   * rendezvous does not answer, there is no news and the generation continues: then connections between members show
   * who is gone.
   */
  Future<String> ended();

  /**
   * Completes, naming them, when members of the current generation have left or are lost: it cannot be formed any more,
   * nor used. Does not complete if members only form the next one.
   */
  Future<String> gone();

  /**
   * Completes, naming them, when there are newcomers that the next generation could take in. Until then the current one
   * continues.
   */
  Future<String> newcomers();

  /**
   * The way in which a member ends a generation. Immutable.
   *
   * @param timeout how long to wait for the next one. It may be {@link #UNLIMITED}, for members whose peers live by
   *     their heartbeats
   * @param ending whether this member has reached its end. The next generation then forms of all living members, even
   *     fewer than the minimum, and takes no newcomers in
   * @param unreachable ranks of the generation that ends, to which this member's connections broke or could not be made
   *     ({@link CollectivePort#unreachable}). The rendezvous service asks them for a heartbeat and at once declares
   *     lost the ones that send none; over a store their leases must end
   * @param inVain whether this member has completed nothing in the generation that ends. After several such generations
   *     in a row, the service removes members that live and cannot reach each other
   */
  record Reform(Duration timeout, boolean ending, Collection<Integer> unreachable, boolean inVain) {
    /**
     * A timeout without end: 100 years. Its nanoseconds, and with them its milliseconds, can still be added to a clock.
     */
    public static final Duration UNLIMITED = Duration.ofDays(36_500);
  }

  /**
   * Ends the current generation for this member, and all others, and waits for the next one. That forms when all living
   * members have called this and there are enough of them. Afterwards {@link #membership}, {@link #ended},
   * {@link #gone} and {@link #newcomers} are those of the new generation.
   *
   * @return fails with {@code PeerLost} at the timeout, naming who is missing, and with {@code StaleGeneration} if this
   *     member was declared lost; the seat is given up then
   */
  Future<Membership> reform(Reform how);

  /** Ends the generation as a member that continues, and has no unreachable peers to report. */
  default Future<Membership> reform(Duration timeout) {
    return reform(timeout, false);
  }

  /** Ends the generation as a member that has no unreachable peers to report. */
  default Future<Membership> reform(Duration timeout, boolean ending) {
    return reform(new Reform(timeout, ending, List.of(), false));
  }

  /**
   * Gives the seat up: the generation is over for all. Never fails; a seat that cannot be given up expires.
   *
   * @param when the progress of the group's work
   */
  Future<Void> leave(Leaving when);

  /** The progress of the group's work when a member leaves. */
  enum Leaving {
    /** The others continue. */
    BEFORE_THE_END,
    /** The work is done, with or without success: newcomers are refused until all have left. */
    AT_THE_END,
    /**
     * The work is done with success: newcomers of the same run ({@link Joining#runId}) have nothing left to do, now and
     * later.
     */
    WITH_SUCCESS
  }

  /** Gives the seat up, while the others continue. */
  default Future<Void> leave() {
    return leave(Leaving.BEFORE_THE_END);
  }
}
