package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.SlicedWork;
import io.regatta.core.shard.internal.job.TimeSlices;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The pushes of one job on one shard that did not fit their time slice, first come, first served. A push whose trainers
 * have none here is begun in the time slice in which it arrives, so that small ones overtake large ones of others.
 * Later pushes of a trainer stay after its earlier ones. Owned by the shard's thread.
 */
public final class PushQueue implements SlicedWork {

  private final TimeSlices turns;
  private final String where;
  private final int limit;
  private final BooleanSupplier pullsWait;
  private final ArrayDeque<PushUnderWay> open = new ArrayDeque<>();
  private long last;

  /**
   * Creates an empty queue.
   *
   * @param limit how many pushes of one trainer may be here at a time
   * @param pullsWait whether a pull waits for anything
   */
  public PushQueue(TimeSlices turns, int limit, String where, BooleanSupplier pullsWait) {
    this.pullsWait = pullsWait;
    this.turns = turns;
    this.limit = limit;
    this.where = where;
  }

  /**
   * Does as much of a push as this time slice has budget for, unless it must stay after another, and queues the rest.
   */
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

  /** Returns true if a trainer of this push has another one here, so that it must stay after that. */
  boolean holdsAnyOf(Push push) {
    return open.stream().anyMatch(p -> p.sharesTrainer(push));
  }

  /** Returns true if a rank has a push here, of those that had arrived when this number was {@link #last}. */
  public boolean holds(int rank, long number) {
    return open.stream().anyMatch(p -> p.number() <= number && p.isOf(rank));
  }

  boolean isEmpty() {
    return open.isEmpty();
  }

  /** Returns true if a push here has begun and has not ended. */
  public boolean isUnderWay() {
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

  /** Returns the number of the push that was queued last. */
  public long last() {
    return last;
  }

  /** Takes in and applies all pushes of a rank in this time slice: it leaves, and they came before. */
  public void finish(int rank) {
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

  /** Returns an upper bound of the rows that pushes taken in, in whole or in part, will still create. */
  public long births() {
    return open.isEmpty() ? 0 : open.stream().map(PushUnderWay::application).filter(Objects::nonNull).distinct()
        .mapToLong(PushApplication::births).sum();
  }

  /** Fails all pushes here; the caller also clears the job's {@link TimeSlices}. */
  public void giveUp(Function<String, RegattaException> why) {
    open.forEach(p -> p.giveUp(why.apply(p.name() + " at " + where + " given up")));
    open.clear();
  }

  @Override
  public void waits(List<Wait> out) {
    open.forEach(p -> p.waits(out));
  }
}
