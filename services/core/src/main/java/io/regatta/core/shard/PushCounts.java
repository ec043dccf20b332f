package io.regatta.core.shard;

/** The counts of the pushes of one job on one shard, for status and metrics. Owned by the shard's thread. */
final class PushCounts {

  long pushes;
  long skipped;
  long repeated;
  long stalenessMax;
  long stalenessSum;

  /** Counts a push outside of rounds that has been applied. */
  void applied(PushApplication a) {
    if (a.skipped()) {
      skipped++;
    }
    if (a.update > 0) {
      pushes++;
      stalenessMax = Math.max(stalenessMax, a.staleness);
      stalenessSum += a.staleness;
    }
  }
}
