package io.regatta.core.shard.internal.bounded;

import io.regatta.core.exchange.Pull;
import io.regatta.core.shard.internal.free.FreeStrategy;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.function.Predicate;

/**
 * The strategy of a shard in a stale synchronous parallel mode (Ho et al., 2013). It works as without rounds, except
 * that a pull for a step waits until no trainer that takes part is more than the job's staleness bound behind that
 * step. Owned by the shard's thread.
 */
public final class BoundedStrategy extends FreeStrategy {

  public BoundedStrategy(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit limit) {
    super(job, tables, trainers, check, limit);
  }

  @Override
  public Predicate<Pull> answerable(long slowest) {
    return pull -> slowest >= lowestClock(pull);
  }

  @Override
  public Predicate<TrainerState> isBehind(Pull pull) {
    return t -> t.clock() < lowestClock(pull);
  }

  /** Returns the lowest clock that a trainer may have when a pull is answered. */
  private long lowestClock(Pull pull) {
    return pull.minStep() - job.spec.stalenessBound();
  }

  /** Returns the clock at the request, which the bound is for: another replica may have pushed meanwhile. */
  @Override
  public long clock(TrainerState trainer, Pull pull) {
    return Math.min(trainer.clock(), pull.minStep());
  }
}
