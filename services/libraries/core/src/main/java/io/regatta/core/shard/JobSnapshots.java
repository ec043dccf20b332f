package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.SlicedWork;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.Shrinks;
import io.regatta.core.shard.internal.push.PushHold;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.table.TableSnapshot.Scope;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * The snapshot of one job on one shard that is being taken, or waits for its moment. With rounds the moment comes when
 * all rounds before its step have closed and none is being closed. The caller must ensure that the round of that step
 * is not complete before the answer. Owned by the shard's thread.
 */
final class JobSnapshots {

  /** Cost of taking a table, in floats: 0.7 µs. */
  private static final long TABLE_FLOATS = 1000;
  /** Tables that are taken without a look at the budget that is left. */
  private static final int TABLES = 16;

  private record Wanted(String holder, long step, boolean whole, Scope scope, long keptMax,
      CompletableFuture<JobSnapshot> done) {}

  /** Takes the snapshot of this moment; see {@link JobSnapshot}. */
  interface Taker {
    JobSnapshot take(Scope scope, long keptMax, Runnable over);
  }

  private final JobContext job;
  private final JobTables tables;
  private final ShardStrategy strategy;
  private final Shrinks shrinks;
  private final PushHold hold;
  private final Taker taker;
  private Wanted wanted;
  private JobSnapshot open;
  /** The snapshot whose tables are being taken, or null. */
  private Taking taking;

  JobSnapshots(JobContext job, JobTables tables, ShardStrategy strategy, Shrinks shrinks, PushHold hold, Taker taker) {
    this.job = job;
    this.tables = tables;
    this.strategy = strategy;
    this.shrinks = shrinks;
    this.hold = hold;
    this.taker = taker;
  }

  /**
   * Asks for a snapshot; see {@link ParameterShard#snapshot}. It is taken when it is due, which ends its hold.
   *
   * @param holder its name, by which it may hold pushes
   * @param whole whether the pushes up to the marks of {@link PushHold} must be included, and none in part
   */
  void ask(String holder, long step, boolean whole, Scope scope, long keptMax,
      CompletableFuture<JobSnapshot> done) {
    if (open != null || wanted != null) {
      throw new Overloaded("a snapshot of " + job.where + " is being written; the next one must wait until it has ended");
    }
    if (scope == Scope.DELTA && !tables.notesChanges()) {
      throw new InvalidInput(job.where + " cannot tell what has changed: it has saved no base since it began; save a base first");
    }
    wanted = new Wanted(holder, step, whole, scope, keptMax, done);
  }

  /**
   * Takes the snapshot that has been asked for, if it is due; called after every change, for example of a round that
   * has closed. Nothing that happens after the moment is in the snapshot, whose tables are taken over several time
   * slices.
   *
   * @return whether the moment is now
   */
  boolean takeIfDue() {
    if (wanted == null || !tables.initialized() || shrinks.underWay()
        || wanted.whole && !hold.isReached()
        || !strategy.isAt(wanted.step)) {
      return false;
    }
    Wanted taken = wanted;
    wanted = null;
    try {
      open = taker.take(taken.scope, taken.keptMax, () -> open = null);
      taking = new Taking(open, taken.done);
      job.turns.start(taking);
    } catch (RuntimeException | Error e) {
      job.completions.error(taken.done, e);
    }
    hold.end(taken.holder);
    return true;
  }

  /** Returns true if this snapshot has been asked for, and not been taken. */
  boolean isWanted(String holder) {
    return wanted != null && wanted.holder.equals(holder);
  }

  /** Takes the snapshot at the next moment, without waiting for pushes that may never arrive. */
  void waitNoLonger(String holder) {
    if (isWanted(holder) && wanted.whole) {
      wanted = new Wanted(holder, wanted.step, false, wanted.scope, wanted.keptMax, wanted.done);
    }
  }

  /** Returns true if the next round has to wait, because a snapshot is to be taken before it. */
  boolean isDue() {
    return wanted != null && strategy.step() >= wanted.step;
  }

  /**
   * Fails the request that waits and the snapshot that is being taken; one that has been answered can still be fetched.
   */
  void giveUp(Function<String, RegattaException> why) {
    if (taking != null) {
      taking.fail(why.apply("snapshot of " + job.where + " given up"));
    }
    if (wanted != null) {
      job.completions.error(wanted.done, why.apply("snapshot of " + job.where + " given up"));
      wanted = null;
    }
  }

  /** The tables of a snapshot whose moment has come, which are taken one after another. */
  private final class Taking implements SlicedWork {
    private final JobSnapshot snapshot;
    private final CompletableFuture<JobSnapshot> done;
    private final long sinceMillis = job.nowMillis();

    Taking(JobSnapshot snapshot, CompletableFuture<JobSnapshot> done) {
      this.snapshot = snapshot;
      this.done = done;
    }

    @Override
    public long advance(long floats) {
      long left = floats;
      boolean more = taking == this;
      while (more && left > 0) {
        more = snapshot.advance(TABLES);
        left -= TABLES * TABLE_FLOATS;
      }
      return more ? -1 : Math.max(0, left);
    }

    @Override
    public void over() {
      if (taking != this) {
        return; // given up
      }
      if (snapshot.failure() != null) {
        fail(snapshot.failure());
        return;
      }
      taking = null;
      job.completions.value(done, snapshot);
    }

    void fail(Throwable why) {
      taking = null;
      snapshot.end(false);
      job.completions.error(done, why);
    }

    @Override
    public void waits(List<Wait> out) {
      out.add(new Wait("snapshot", "beginning", job.where, sinceMillis,
          List.of(Wait.Peer.named("tables, which are taken some at a time"))));
    }
  }
}
