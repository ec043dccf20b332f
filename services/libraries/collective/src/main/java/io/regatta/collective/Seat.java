package io.regatta.collective;

import io.vertx.core.Future;
import java.time.Duration;
import java.util.Collection;
import java.util.List;

/**
 * A member's place in a group, from its join until it leaves or is declared lost, through one generation after the other.
 * It is kept by signs of life of its own. Any thread; futures complete on the context on which the member joined.
 */
public interface Seat {

  /** Of the current generation. */
  Membership membership();

  /**
   * Completes, with the reason for people, when the current generation is over: a member has left, is lost, or already
   * waits for the next one. No collective of this generation can succeed any more; the others are to be told by
   * {@link #reform}. Fails with {@code StaleGeneration} if this member was declared lost itself, and must join anew. Where the
   * rendezvous does not answer nothing is heard, and the generation goes on: then connections between members tell who is gone.
   */
  Future<String> ended();

  /**
   * Completes, naming them, when members of the current generation have left or are lost: it cannot be formed any more, nor used. Not
   * if members only form the next one.
   */
  Future<String> gone();

  /** Completes, naming them, when there are newcomers whom the next generation could take in. Until then all goes on. */
  Future<String> newcomers();

  /**
   * How a member ends a generation. Immutable.
   *
   * @param timeout how long to wait for the next one; it may be {@link #UNLIMITED}, for members who wait live by their signs of life
   * @param ending whether this member has come to its end: the next generation forms of all who live then, be they fewer than the
   *     minimum, and takes no newcomers in
   * @param unreachable ranks of the generation that ends, to whom this member's connections broke or could not be made
   *     ({@link CollectivePort#unreachable}). The rendezvous service asks them for a sign of life and declares lost at once who gives
   *     none; over a store their leases must end
   * @param inVain whether this member has completed nothing in the generation that ends. The service takes members out who live
   *     and cannot reach each other, once several generations in a row have come to nothing for it
   */
  record Reform(Duration timeout, boolean ending, Collection<Integer> unreachable, boolean inVain) {
    /** A timeout without end: 100 years. Its nanoseconds, and with them its milliseconds, can still be added to a clock. */
    public static final Duration UNLIMITED = Duration.ofDays(36_500);
  }

  /**
   * Ends the current generation for this member, and all others, and waits for the next one, which forms when all members
   * who live have called this and there are enough of them. Afterwards {@link #membership}, {@link #ended},
   * {@link #gone} and {@link #newcomers} are those of the new generation.
   *
   * @return fails with {@code PeerLost} at the timeout, naming who is missing, and with {@code StaleGeneration} if this
   *     member was declared lost; the seat is given up then
   */
  Future<Membership> reform(Reform how);

  /** The same of one that goes on, and knows nothing of others. */
  default Future<Membership> reform(Duration timeout) {
    return reform(timeout, false);
  }

  /** The same of one that knows nothing of others. */
  default Future<Membership> reform(Duration timeout, boolean ending) {
    return reform(new Reform(timeout, ending, List.of(), false));
  }

  /**
   * Gives the seat up: the generation is over for all. Never fails; a seat that cannot be given up runs out.
   *
   * @param when how far what the group is for has come
   */
  Future<Void> leave(Leaving when);

  /** How far what the group is for has come when a member leaves. */
  enum Leaving {
    /** The others continue. */
    BEFORE_THE_END,
    /** It is done, with what success ever: newcomers are refused until all have left. */
    AT_THE_END,
    /** It is done with success: newcomers of the same run ({@link Joining#runId}) have nothing left to do, now and later. */
    WITH_SUCCESS
  }

  /** Gives the seat up, while the others go on. */
  default Future<Void> leave() {
    return leave(Leaving.BEFORE_THE_END);
  }
}
