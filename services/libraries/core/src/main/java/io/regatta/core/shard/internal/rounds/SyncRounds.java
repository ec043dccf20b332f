package io.regatta.core.shard.internal.rounds;

import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.shard.internal.push.TrainerState;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The sync rounds of one job that are open on one shard, by step, without gaps: the first is the next to close. Holds
 * pushes and the acknowledgements owed for them; {@link TrainerState#nextStep} tells who must still push. Owned by the
 * shard's thread.
 */
final class SyncRounds {

  /** An acknowledgement owed when the round closes. */
  record Owed(List<Contributor> contributors, boolean repeatedPush, boolean skippedPush, long sinceMillis,
      CompletableFuture<PushAck> done) {}

  /** One round: the pushes that have arrived, in order of arrival, and when. */
  static final class Round {
    final long step;
    final List<Push> pushes = new ArrayList<>();
    final List<Owed> owed = new ArrayList<>();
    /** (rank, wall clock of its push) */
    final List<long[]> arrivals = new ArrayList<>();
    /** Upper bound of the sparse rows that its application will still create. */
    long births;

    Round(long step) {
      this.step = step;
    }

    long firstMillis() {
      return arrivals.get(0)[1];
    }
  }

  private final ArrayDeque<Round> open = new ArrayDeque<>();
  private long next;

  /** Returns the step of the first round that has not closed, equal to the number of closed ones. */
  long next() {
    return next;
  }

  /** Returns the next round to close, or null if nobody has pushed to it or a later one. */
  Round first() {
    return open.peekFirst();
  }

  /** Returns the open round of a step, or null. */
  Round find(long step) {
    for (Round r : open) {
      if (r.step == step) {
        return r;
      }
    }
    return null;
  }

  /** Returns the open round of a step that has not closed; opens it, and those before it, if necessary. */
  Round at(long step) {
    while (next + open.size() <= step) {
      open.addLast(new Round(next + open.size()));
    }
    return find(step);
  }

  /**
   * Skips rounds to which nobody has pushed and nobody will; none may be open. It happens if another shard has closed
   * them with a trainer that is gone now, so that the others take part from a later step.
   *
   * @return how many
   */
  long skipTo(long step) {
    long skipped = Math.max(0, step - next);
    next += skipped;
    return skipped;
  }

  /** Removes the first round and returns it. */
  Round close() {
    next++;
    return open.removeFirst();
  }

  /** Forgets the open rounds. */
  void clear() {
    open.clear();
  }

  Iterable<Round> all() {
    return open;
  }

  /** Returns an upper bound of the rows that open rounds may still create. */
  long births() {
    long n = 0;
    for (Round r : open) {
      n += r.births;
    }
    return n;
  }
}
