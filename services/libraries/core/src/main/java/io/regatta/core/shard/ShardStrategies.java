package io.regatta.core.shard;

import io.regatta.core.shard.internal.bounded.BoundedStrategy;
import io.regatta.core.shard.internal.free.FreeStrategy;
import io.regatta.core.shard.internal.geo.GeoStrategy;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.shard.internal.push.Trainers;
import io.regatta.core.shard.internal.rounds.RoundStrategy;

/** The registry of the strategies of shards: which one a job's mode asks for, by the mode's properties. */
final class ShardStrategies {

  private ShardStrategies() {}

  /**
   * Returns the strategy for a job.
   *
   * @param openRounds rounds open at a time, where there are any
   * @param gate when a complete round may be applied, where there are any
   */
  static ShardStrategy of(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit limit,
      int openRounds, RoundStrategy.Gate gate) {
    if (job.spec.mode().hasRounds()) {
      return new RoundStrategy(job, tables, trainers, check, limit, openRounds, gate);
    }
    if (job.spec.mode().pushesDeltas()) {
      return new GeoStrategy(job, tables, trainers, check, limit);
    }
    return job.spec.mode().hasStalenessBound() ? new BoundedStrategy(job, tables, trainers, check, limit)
        : new FreeStrategy(job, tables, trainers, check, limit);
  }
}
