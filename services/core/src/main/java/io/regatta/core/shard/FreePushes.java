package io.regatta.core.shard;

import io.regatta.core.dense.DenseSink;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import java.util.List;
import java.util.function.BiConsumer;

/**
 * The pushes of one job on one shard in a mode without rounds. Each is an update of its own, applied once it has
 * arrived, or as far as it has. A push is counted as an update when it begins. Owned by the shard's thread.
 */
final class FreePushes implements PushHandler {

  private final JobState job;
  private final PushCheck check;

  FreePushes(JobState job) {
    this.job = job;
    check = job.check;
  }

  /** Begins a push that has come in part, see {@link ParameterShard#begin}. */
  DenseSink begin(Push known, List<TrainerState> from, String who, int denseSize) {
    PushApplication begun = check.begun(known, from, who);
    if (begun == null && from.stream().anyMatch(t -> t.application != null)) {
      return null; // there is another one under way, whose place is to be remembered
    }
    check.denseLength(denseSize, who);
    RowCheck rows = check(begun, known, from, who);
    if (job.turns.spend(rows::advance) < 0) {
      return null; // too many rows to be looked through in this turn, and nothing is applied before
    }
    PushApplication a = take(begun, known, from, who, rows);
    for (TrainerState t : from) {
      t.application = t.active() ? a : null;
      job.seen(t);
    }
    job.pushes.add(new PushUnderWay(job, known, job.nowMillis(), a), false);
    job.checkWhole(); // or it has failed in its middle
    return a.sink(denseSize);
  }

  @Override
  public RowCheck check(Push push, List<TrainerState> from, String who) {
    return check(check.begun(push, from, who), push, from, who);
  }

  /** @param begun the application of this push that has begun, or null */
  private RowCheck check(PushApplication begun, Push push, List<TrainerState> from, String who) {
    if (begun == null) {
      check.takePart(from, who);
      check.order(push, who);
    }
    check.shapes(push, who);
    List<SparseRows> open = begun == null ? push.sparse() : begun.open(push.sparse());
    return new RowCheck(job.tables, check, job.rowLimit, push, open, who);
  }

  @Override
  public PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      BiConsumer<PushAck, Throwable> done) {
    PushApplication begun = check.begun(push, from, who);
    if (begun != null && push.dense() == null && !begun.complete()) {
      throw new InvalidInput(who + " lacks dense elements at " + job.where + "; repeat what was sent, unchanged");
    }
    PushApplication a = take(begun, push, from, who, checked);
    a.end();
    job.takenIn(push, from);
    return a;
  }

  /** Takes what has arrived of a push, and has been checked, beyond what was taken before. */
  private PushApplication take(PushApplication begun, Push push, List<TrainerState> from, String who, RowCheck checked) {
    if (checked.bad() != null) {
      check.nanPolicy(who, checked.bad());
    } else {
      job.rowLimit.check(checked.births(), who, push.sparse(), SparseRows::table);
    }
    PushApplication a = begun != null ? begun : checked.bad() != null ? new PushApplication(job, push, from, who, 0, 0)
        : counted(push, from, who);
    if (checked.bad() != null) {
      a.drop();
    }
    a.take(push.sparse(), checked.births());
    return a;
  }

  /** A new push, as an update. */
  private PushApplication counted(Push push, List<TrainerState> from, String who) {
    long own = 0;
    for (TrainerState t : from) {
      own = Math.max(own, t.ownUpdatesSince(push.version()));
    }
    long staleness = job.version() - push.version() - own;
    long update = job.nextUpdate();
    from.forEach(t -> t.ownUpdate(update));
    return new PushApplication(job, push, from, who, update, staleness);
  }
}
