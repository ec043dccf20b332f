package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.Wait;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The pushes of one job on one shard that one turn has no room for, first come, first served. A push whose trainers have
 * none here is begun in the turn in which it comes, and small ones so overtake large ones of others; what comes of a trainer
 * behind its push keeps behind it. Owned by the shard's thread.
 */
final class PushQueue implements Work {

  private final Turns turns;
  private final String where;
  private final int limit;
  private final BooleanSupplier pullsWait;
  private final ArrayDeque<PushUnderWay> open = new ArrayDeque<>();
  private long last;

  /**
   * An empty one.
   *
   * @param limit how many of one trainer may be here at a time
   * @param pullsWait whether a pull waits for anything
   */
  PushQueue(Turns turns, int limit, String where, BooleanSupplier pullsWait) {
    this.pullsWait = pullsWait;
    this.turns = turns;
    this.limit = limit;
    this.where = where;
  }

  /** Does as much of it as this turn has room for, if it need not keep behind another. */
  void add(PushUnderWay push, boolean behind) {
    if (!behind && turns.run(push)) {
      return;
    }
    push.number(++last);
    open.addLast(push);
    turns.keep(this);
  }

  /** @throws Overloaded if no more of its trainers may be here */
  void checkRoom(Push push) {
    if (open.size() >= limit && open.stream().filter(p -> p.isWaitedFor() && p.sharesTrainer(push)).count() >= limit) {
      throw new Overloaded(PushCheck.name(push) + " refused: " + limit + " pushes of its trainers wait at " + where
          + " to be applied, the limit for each; wait for acknowledgements");
    }
  }

  /** Whether a push must keep behind one that is here. */
  boolean holdsAnyOf(Push push) {
    return open.stream().anyMatch(p -> p.sharesTrainer(push));
  }

  /** Whether a rank has a push here, of those that have come before this number was {@link #last}. */
  boolean holds(int rank, long number) {
    return open.stream().anyMatch(p -> p.number() <= number && p.isOf(rank));
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Returns true if a push here has been begun, and not ended. */
  boolean isUnderWay() {
    return open.stream().anyMatch(p -> p.application() != null);
  }

  /**
   * Returns how many examples of a trainer are in pushes here that have been begun, beyond those of its completed ones.
   * Each push holds the sum of all examples up to it, so the last one counts.
   */
  long examplesAfter(TrainerState t) {
    return open.stream().map(PushUnderWay::application).filter(Objects::nonNull)
        .mapToLong(a -> a.examplesAfter(t)).max().orElse(0);
  }

  /** Number of the push that came last. */
  long last() {
    return last;
  }

  /** Takes in, and applies, what a rank has here, in this turn: it leaves, and what it has pushed came before. */
  void finish(int rank) {
    while (holds(rank, last)) {
      advance(Long.MAX_VALUE);
    }
  }

  @Override
  public long advance(long floats) {
    long left = floats;
    while (!open.isEmpty()) {
      if (left <= 0) {
        return -1;
      }
      PushUnderWay first = open.poll();
      left = first.advance(left);
      if (left < 0) {
        open.addFirst(first);
        return -1;
      }
      if (!open.isEmpty() && pullsWait.getAsBoolean()) {
        return -1; // so that a pull which waits for this one is not kept for those behind it
      }
    }
    return left;
  }

  /** Rows that pushes which have been taken in, in whole or in part, are still to bear, at most. */
  long births() {
    return open.isEmpty() ? 0 : open.stream().map(PushUnderWay::application).filter(Objects::nonNull).distinct()
        .mapToLong(Application::births).sum();
  }

  /** Fails all that is here; the job's turns are cleared with it. */
  void giveUp(Function<String, RegattaException> why) {
    open.forEach(p -> p.giveUp(why.apply(p.name() + " at " + where + " given up")));
    open.clear();
  }

  @Override
  public void waits(List<Wait> out) {
    open.forEach(p -> p.waits(out));
  }
}
