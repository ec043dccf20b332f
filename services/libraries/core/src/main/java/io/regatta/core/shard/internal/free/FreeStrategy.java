package io.regatta.core.shard.internal.free;

import io.regatta.core.dense.DenseUpdate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushApplication;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.RowCheck;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

/**
 * The strategy of a shard without rounds: each push is an update of its own, applied once it has arrived, or as far as
 * it has. A push is counted as an update when it begins. A pull waits for its trainer's own pushes only. Owned by the
 * shard's thread.
 */
public class FreeStrategy implements ShardStrategy {

  protected final JobContext job;
  protected final JobTables tables;
  protected final Trainers trainers;
  final PushCheck check;
  private final RowLimit limit;
  /** Step of the snapshot that the job has resumed from, or 0. */
  private long first;

  public FreeStrategy(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit limit) {
    this.job = job;
    this.tables = tables;
    this.trainers = trainers;
    this.check = check;
    this.limit = limit;
  }

  @Override
  public boolean mayBegin(Push known) {
    boolean mayBeDropped = job.spec.nanPolicy() == NanPolicy.SKIP && !known.finite(); // whole, or not at all
    return !mayBeDropped && !appliesOneAtATime();
  }

  /** Returns true if an update has to know all of a push's gradient before it changes a weight. */
  @Override
  public boolean appliesOneAtATime() {
    return job.spec.model().denseOptimizer().needsWholeTensors();
  }

  @Override
  public PushApplication begin(Push known, List<TrainerState> from, String who, int denseSize) {
    FreeApplication begun = begun(known, from, who);
    if (begun == null && from.stream().anyMatch(t -> t.application() != null)) {
      return null; // there is another one under way, whose place is to be remembered
    }
    check.denseLength(denseSize, who);
    RowCheck rows = check(begun, known, from, who);
    if (job.turns.spend(rows::advance) < 0) {
      return null; // too many rows to be looked through in this turn, and nothing is applied before
    }
    FreeApplication a = take(begun, known, from, who, rows);
    trainers.begun(a, from, job.nowMillis());
    return a;
  }

  @Override
  public RowCheck check(Push push, List<TrainerState> from, String who) {
    return check(begun(push, from, who), push, from, who);
  }

  /** @param begun the application of this push that has begun, or null */
  private RowCheck check(FreeApplication begun, Push push, List<TrainerState> from, String who) {
    if (begun == null) {
      check.takePart(from, who);
      check.order(push, who);
    }
    check.shapes(push, who);
    List<SparseRows> open = begun == null ? push.sparse() : begun.open(push.sparse());
    return new RowCheck(tables, check, limit, push, open, who);
  }

  @Override
  public PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      CompletableFuture<PushAck> done) {
    FreeApplication begun = begun(push, from, who);
    if (begun != null && push.dense() == null && !begun.complete()) {
      throw new InvalidInput(who + " lacks dense elements at " + job.where + "; repeat what was sent, unchanged");
    }
    FreeApplication a = take(begun, push, from, who, checked);
    a.end();
    trainers.takenIn(push, from, job.nowMillis());
    return a;
  }

  /**
   * Returns the application of this push that has begun and is not complete, or null. If others were lost and only some
   * of its trainers repeat it, it resumes for these. A push that is repeated together with other gradients is refused.
   */
  private FreeApplication begun(Push push, List<TrainerState> from, String who) {
    for (int i = 0; i < from.size(); i++) {
      FreeApplication a = application(from.get(i));
      if (a != null && a.isOf(push)) {
        return a;
      }
      if (a != null && a.holds(push) && from.stream().allMatch(t -> t.application() == a)) {
        return a.part(push, from, who);
      }
      if (a != null && a.holds(push.contributors().get(i))) {
        throw new InvalidInput(who + " mixes gradients that " + job.where
            + " has begun to apply with others; repeat what was sent, unchanged");
      }
    }
    return null;
  }

  /** Returns the application of a push that has begun and is not complete; each of this strategy's is of this kind. */
  private static FreeApplication application(TrainerState trainer) {
    return (FreeApplication) trainer.application();
  }

  /** Takes what has arrived of a push, and has been checked, beyond what was taken before. */
  private FreeApplication take(FreeApplication begun, Push push, List<TrainerState> from, String who, RowCheck checked) {
    if (checked.bad() != null) {
      check.nanPolicy(who, checked.bad());
    } else {
      limit.check(checked.births(), who, push.sparse(), SparseRows::table);
    }
    FreeApplication a = begun != null ? begun : checked.bad() != null ? application(push, from, who, 0, 0)
        : counted(push, from, who);
    if (checked.bad() != null) {
      a.drop();
    }
    a.take(push.sparse(), checked.births());
    return a;
  }

  private FreeApplication application(Push push, List<TrainerState> from, String who, long update, long staleness) {
    return new FreeApplication(this, push, from, who, update, staleness);
  }

  /** A new push, as an update. */
  private FreeApplication counted(Push push, List<TrainerState> from, String who) {
    long own = 0;
    for (TrainerState t : from) {
      own = Math.max(own, t.ownUpdatesSince(push.version()));
    }
    long staleness = job.version() - push.version() - own;
    long update = job.nextUpdate();
    from.forEach(t -> t.ownUpdate(update));
    return application(push, from, who, update, staleness);
  }

  /** Applies rows {@code [from .. to)} of a push; returns the cost, in {@link TimeSlices#FLOATS}. */
  protected long apply(SparseRows rows, int from, int to, long step, long update) {
    return tables.update(rows, from, to, step, update);
  }

  /** Begins the application of the dense vector of a push. */
  protected DenseUpdate denseUpdate(long step, long update) {
    return tables.denseUpdate(step, update);
  }

  @Override
  public Predicate<Pull> answerable(long slowest) {
    return pull -> true;
  }

  @Override
  public Predicate<TrainerState> isBehind(Pull pull) {
    return t -> t.clock() < pull.minStep();
  }

  @Override
  public long firstStep() {
    return first;
  }

  @Override
  public long awaitedFrom(TrainerState trainer) {
    return trainer.clock();
  }

  @Override
  public void resumeAt(long step) {
    first = Math.max(first, step);
  }

  @Override
  public long step() {
    return first;
  }
}
