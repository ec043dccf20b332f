package io.regatta.trainer.run;

import io.regatta.snapshot.ExampleCounts;
import io.regatta.trainer.result.ExchangeFigures;
import io.regatta.trainer.result.Figures;

/**
 * The summary of one rank in a run, which the ranks exchange at its end; a fixed row of doubles. Immutable.
 *
 * @param examples of all its replicas
 * @param seconds of the replica that took longest, first step to last
 * @param steps of replica 0
 * @param figures reported by replica 0
 * @param before examples that earlier incarnations of the run have trained; none if this rank has not trained
 */
record RankStats(int rank, long processId, long steps, long examples, double seconds, ExchangeFigures exchange,
    Figures figures, ExampleCounts before) {

  private static final int BEFORE = 12;

  double[] toRow() {
    return new double[] {rank, processId, steps, examples, seconds, exchange.stalenessMax(), exchange.clockLeadMax(),
        exchange.skippedPushes(), figures.loss(), figures.auc(), figures.accuracy(), figures.logloss(),
        before.trained(), before.repeated()};
  }

  /** Reads a row; ranks of other implementations may omit the last two numbers. */
  static RankStats ofRow(double[] r) {
    return new RankStats((int) r[0], (long) r[1], (long) r[2], (long) r[3], r[4],
        new ExchangeFigures((long) r[5], (long) r[6], (long) r[7]), new Figures(r[8], r[9], r[10], r[11]),
        r.length > BEFORE + 1 ? new ExampleCounts((long) r[BEFORE], (long) r[BEFORE + 1], 0) : ExampleCounts.NONE);
  }

  double examplesPerSecond() {
    return seconds > 0 ? examples / seconds : 0;
  }
}
