package io.regatta.core.shard;

import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The sync rounds of one job that are open on one shard, by step, without gaps: the first is the next to close. Holds
 * pushes and the acknowledgements owed for them; who must still push is {@link TrainerState#nextStep}. Owned by the
 * shard's thread.
 */
final class SyncRounds {

  /** An acknowledgement owed when the round closes. */
  record Owed(List<Contributor> contributors, boolean repeatedPush, boolean skippedPush, long sinceMillis,
      BiConsumer<PushAck, Throwable> done) {}

  /** One round: what has come, in order of arrival, and when. */
  static final class Round {
    final long step;
    final List<Push> pushes = new ArrayList<>();
    final List<Owed> owed = new ArrayList<>();
    /** (rank, wall clock of its push) */
    final List<long[]> arrivals = new ArrayList<>();
    /** Upper bound of the sparse rows that its application is still to bear. */
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

  /** Step of the first round that has not closed, equal to the number of closed ones. */
  long next() {
    return next;
  }

  /** The next round to close, or null if nobody has pushed to it or a later one. */
  Round first() {
    return open.peekFirst();
  }

  /** The open round of a step, or null. */
  Round find(long step) {
    for (Round r : open) {
      if (r.step == step) {
        return r;
      }
    }
    return null;
  }

  /** The open round of a step that has not closed; begun, with those before it, if need be. */
  Round at(long step) {
    while (next + open.size() <= step) {
      open.addLast(new Round(next + open.size()));
    }
    return find(step);
  }

  /**
   * Passes over rounds to which nobody has pushed and nobody will, none being open: the trainers that take part do so
   * from a later step on, because another shard has closed those rounds with a trainer that is gone now.
   *
   * @return how many
   */
  long skipTo(long step) {
    long skipped = Math.max(0, step - next);
    next += skipped;
    return skipped;
  }

  /** Takes the first round out. */
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

  /** Rows that open rounds may still bear. */
  long births() {
    long n = 0;
    for (Round r : open) {
      n += r.births;
    }
    return n;
  }
}
