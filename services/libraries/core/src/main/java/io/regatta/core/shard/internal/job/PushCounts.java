package io.regatta.core.shard.internal.job;

/** The counts of the pushes of one job on one shard, for status and metrics. Owned by the shard's thread. */
public final class PushCounts {

  private long applied;
  private long skipped;
  private long repeated;
  private long stalenessMax;
  private long stalenessSum;

  /**
   * Counts a push that has been applied.
   *
   * @param staleness updates of others between the values of its gradients and this one; 0 in a round
   */
  public void apply(long staleness) {
    applied++;
    stalenessMax = Math.max(stalenessMax, staleness);
    stalenessSum += staleness;
  }

  /** Counts a push that the NaN policy has dropped, in whole or in part. */
  public void skip() {
    skipped++;
  }

  /** Counts a push that has come again. */
  public void repeat() {
    repeated++;
  }

  public long applied() {
    return applied;
  }

  public long skipped() {
    return skipped;
  }

  public long repeated() {
    return repeated;
  }

  /** Returns the highest staleness of an applied push. */
  public long stalenessMax() {
    return stalenessMax;
  }

  /** Returns the sum of the staleness of all applied pushes, for a mean over {@link #applied}. */
  public long stalenessSum() {
    return stalenessSum;
  }
}
