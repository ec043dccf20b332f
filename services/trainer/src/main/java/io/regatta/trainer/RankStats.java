package io.regatta.trainer;

import java.util.Map;

/**
 * What one rank did in a run, as the ranks tell each other at its end: a fixed row of doubles.
 *
 * @param examples of all its replicas
 * @param seconds of the replica that took longest, first step to last
 * @param steps of replica 0
 * @param loss and the following: what replica 0 reported, NaN if it did not
 */
record RankStats(int rank, long pid, long steps, long examples, double seconds, long stalenessMax,
    long clockLeadMax, long skippedPushes, double loss, double auc, double accuracy, double logloss) {

  static RankStats of(int rank, long steps, long examples, double seconds, long stalenessMax, long clockLeadMax,
      long skippedPushes, Map<String, Double> reported) {
    return new RankStats(rank, ProcessHandle.current().pid(), steps, examples, seconds, stalenessMax,
        clockLeadMax, skippedPushes, reported.getOrDefault("loss", Double.NaN),
        reported.getOrDefault("auc", Double.NaN),
        reported.getOrDefault("accuracy", Double.NaN), reported.getOrDefault("logloss", Double.NaN));
  }

  double[] toRow() {
    return new double[] {rank, pid, steps, examples, seconds, stalenessMax, clockLeadMax, skippedPushes, loss, auc,
        accuracy, logloss};
  }

  static RankStats ofRow(double[] r) {
    return new RankStats((int) r[0], (long) r[1], (long) r[2], (long) r[3], r[4], (long) r[5], (long) r[6],
        (long) r[7], r[8], r[9], r[10], r[11]);
  }

  double examplesPerSecond() {
    return seconds > 0 ? examples / seconds : 0;
  }
}
