package io.regatta.core.shard;

/** What status and metrics show of the pushes of one job on one shard. Owned by the shard's thread. */
final class PushCounts {

  long pushes;
  long skipped;
  long repeated;
  long stalenessMax;
  long stalenessSum;

  /** A push outside of rounds has come to its end. */
  void applied(Application a) {
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
