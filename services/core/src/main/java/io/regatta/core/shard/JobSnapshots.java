package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableSnapshot;
import io.regatta.core.table.TableSnapshot.Scope;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The snapshot of one job on one shard that is being taken, or waits for its moment: in sync mode that all rounds before
 * its step have closed and none is being closed. Whoever asks sees to it that the round of that step is not complete before
 * the answer. Owned by the shard's thread.
 */
final class JobSnapshots {

  private record Wanted(String holder, long step, boolean whole, Scope scope, long keptMax,
      BiConsumer<JobSnapshot, Throwable> done) {}

  private final JobState job;
  private final int shard;
  private Wanted wanted;
  private JobSnapshot open;

  JobSnapshots(JobState job, int shard) {
    this.job = job;
    this.shard = shard;
  }

  /**
   * See {@link ParameterShard#snapshot}; it is taken when it is due, and ends its hold then.
   *
   * @param holder its name, by which it may hold pushes
   * @param whole whether the pushes that {@link PushHold} is told of are to be inside, and none in part
   */
  void ask(String holder, long step, boolean whole, Scope scope, long keptMax,
      BiConsumer<JobSnapshot, Throwable> done) {
    if (open != null || wanted != null) {
      throw new Overloaded("a snapshot of " + job.where + " is being written; the next one must wait until it has ended");
    }
    for (SparseTable t : job.tables.sparseTables()) {
      if (scope == Scope.DELTA && !TableSnapshot.isNoted(t)) {
        throw new InvalidInput(job.where + " cannot tell what has changed: it has saved no base since it began, or more rows have "
            + "gone since the last one than are noted; save a base first");
      }
    }
    wanted = new Wanted(holder, step, whole, scope, keptMax, done);
  }

  /**
   * Something has changed, e.g. a round has closed.
   *
   * @return whether a snapshot has been taken
   */
  boolean takeIfDue() {
    if (wanted == null || !job.tables.initialized() || job.shrinks.underWay()
        || wanted.whole && !job.hold.isReached()
        || job.spec.mode() == Mode.SYNC && (job.inRounds.next() < wanted.step || job.inRounds.closing())) {
      return false;
    }
    Wanted taken = wanted;
    wanted = null;
    try {
      open = new JobSnapshot(job, shard, taken.scope, taken.keptMax, () -> open = null);
      job.completions.value(taken.done, open);
    } catch (RuntimeException | Error e) {
      job.completions.error(taken.done, e);
    }
    job.hold.end(taken.holder);
    return true;
  }

  /** Returns true if this snapshot has been asked for, and not been taken. */
  boolean isWanted(String holder) {
    return wanted != null && wanted.holder.equals(holder);
  }

  /** The pushes that this snapshot waits for may not come: the next moment will do. */
  void waitNoLonger(String holder) {
    if (isWanted(holder) && wanted.whole) {
      wanted = new Wanted(holder, wanted.step, false, wanted.scope, wanted.keptMax, wanted.done);
    }
  }

  /** Whether the next round has to wait: the moment that is asked for is now, before it. */
  boolean isDue() {
    return wanted != null && job.inRounds.next() >= wanted.step;
  }

  /** Fails what waits; what is open can still be fetched. */
  void giveUp(Function<String, RegattaException> why) {
    if (wanted != null) {
      job.completions.error(wanted.done, why.apply("snapshot of " + job.where + " given up"));
      wanted = null;
    }
  }
}
