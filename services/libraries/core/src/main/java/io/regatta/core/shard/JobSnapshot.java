package io.regatta.core.shard;

import io.regatta.core.dense.DenseState;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.shard.internal.parameters.Shrinks;
import io.regatta.core.table.GroupSnapshot;
import io.regatta.core.table.TableSnapshot;
import java.util.List;
import java.util.function.Supplier;

/**
 * The whole state of a job on one shard at one moment, to be fetched in slices while the job continues. Rows, blocks of
 * the dense vector and its slots are copied before they change. With rounds the moment is between two of them. Owned by
 * the shard's thread; {@link #end} ends it.
 */
public final class JobSnapshot {

  private final JobSpec spec;
  private final int shard;
  private final long version;
  private final long step;
  private final long shrinks;
  private final boolean whole;
  private final Supplier<OptimizerUpdates> updates;
  private final List<SavedTrainer> trainers;
  private final DenseState dense;
  private final GroupSnapshot tables;
  private final Runnable over;

  /**
   * Takes the snapshot of this moment.
   *
   * @param over called at the end, after which the job can take another one
   */
  JobSnapshot(JobState job, int shard, TableSnapshot.Scope scope, long keptMax, Runnable over) {
    spec = job.spec;
    this.shard = shard;
    this.over = over;
    version = job.context.version();
    trainers = job.trainers.saved(job.queue);
    step = job.strategy.step();
    shrinks = job.shrinks.all();
    whole = !job.queue.isUnderWay() && !job.trainers.anyUnderWay();
    updates = job.tables.updates(version);
    tables = job.tables.snapshot(scope, keptMax);
    try {
      dense = job.tables.denseState();
    } catch (RuntimeException | Error e) { // for want of memory, say: the next one is to find all as it was
      tables.end(false);
      over.run();
      throw e;
    }
  }

  /** Takes further tables; see {@link GroupSnapshot#advance}. */
  boolean advance(int most) {
    return tables.advance(most);
  }

  /** Returns why a table could not be taken, or null. */
  Throwable failure() {
    return tables.failure();
  }

  public JobSpec spec() {
    return spec;
  }

  /** Index in the shard map. */
  public int shard() {
    return shard;
  }

  /** Updates applied. */
  public long version() {
    return version;
  }

  /** With rounds: those before this one are inside. */
  public long step() {
    return step;
  }

  /** Shrinks of the sparse tables that are inside; see {@link ParameterShard#shrink}. */
  public long shrinks() {
    return shrinks;
  }

  /** Returns false if a push is inside that has been applied in part only. */
  public boolean whole() {
    return whole;
  }

  /** Returns the updates that the optimizers have made, each since its slots were fresh; counted when asked for. Any thread. */
  public OptimizerUpdates updates() {
    return updates.get();
  }

  public List<SavedTrainer> trainers() {
    return trainers;
  }

  /** The shard's part of the dense vector. */
  public DenseState dense() {
    return dense;
  }

  /** Returns the tables in the order of the model; one that nobody had asked for is left out, for it has no rows. */
  public List<TableSnapshot> tables() {
    return tables.tables();
  }

  /**
   * Ends the snapshot and releases what it holds.
   *
   * @param saved false if the files are unusable; what a delta was to hold then belongs to the next one
   */
  public void end(boolean saved) {
    dense.releaseUntil(DenseValues.blocks(dense.size()));
    tables.end(saved);
    over.run();
  }
}
