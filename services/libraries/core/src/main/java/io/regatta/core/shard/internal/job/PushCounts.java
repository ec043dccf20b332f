package io.regatta.core.shard.internal.job;

/** The counts of the pushes of one job on one shard, for status and metrics. Owned by the shard's thread. */
public final class PushCounts {

  public long pushes;
  public long skipped;
  public long repeated;
  public long stalenessMax;
  public long stalenessSum;

  /** Counts a push outside of rounds that has been applied. */
  public void applied(long staleness) {
    pushes++;
    stalenessMax = Math.max(stalenessMax, staleness);
    stalenessSum += staleness;
  }
}
