package io.regatta.core.shard;

import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.table.SparseTable;

/**
 * A restore of a saved state into a job that has not begun on one shard, in slices. No value can be pulled until {@link
 * #finish}. Owned by the shard's thread.
 */
public final class JobRestore {

  private final JobState job;
  private final int shard;
  private boolean broken;

  JobRestore(JobState job, int shard) {
    this.job = job;
    this.shard = shard;
  }

  public JobSpec spec() {
    return job.spec;
  }

  /** Index in the shard map. */
  public int shard() {
    return shard;
  }

  /** Elements of the shard's dense vector. */
  public int denseSize() {
    return job.tables.denseSize();
  }

  /** Floats of a whole row of a table. */
  public int width(String table) {
    return job.tables.table(table).layout().width();
  }

  /** Restores whole rows. */
  public void rows(String table, long[] ids, float[] floats, int n) {
    job.checkNotBegun();
    SparseTable t = job.tables.table(table);
    job.rowLimit.checkKept(n, table);
    for (int i = 0; i < n; i++) {
      t.restore(ids[i], floats, i * t.layout().width());
    }
  }

  /** Restores the values of rows; everything else of them is initialized. */
  public void values(String table, long[] ids, float[] values, int n) {
    job.checkNotBegun();
    SparseTable t = job.tables.table(table);
    job.rowLimit.checkKept(n, table);
    for (int i = 0; i < n; i++) {
      t.assign(ids[i], values, i * t.spec().dim());
    }
  }

  /** Sets how many shrinks the rows have been through before; the shrinks of this run are numbered from there. */
  public void shrinks(long done) {
    job.checkNotBegun();
    job.shrinks.resumeAt(done);
  }

  /**
   * Restores the last part; the job begins with these values.
   *
   * @param values of the dense vector, by block; the shard's from now on
   * @param slots by block, then by slot
   * @param version number of updates that are included
   * @param updates number of updates that the optimizers have made, each since its slots were fresh
   * @param at the point from which the run resumes
   */
  public void finish(float[][] values, float[][][] slots, long version, OptimizerUpdates updates, ResumePoint at) {
    job.checkNotBegun();
    job.tables.restore(version, updates);
    job.restored(values, slots, version, at);
  }

  /**
   * Reports that the files could not be read to their end. The job is then broken on this shard, unless it has begun
   * without them.
   */
  public void fail(Throwable cause) {
    if (!broken && !job.begun()) {
      broken = true;
      job.context.breakDown("a snapshot was being read", cause);
      job.context.completions.drain();
    }
  }
}
