package io.regatta.training.run;

import io.regatta.protocol.gather.EarlierExamples;
import io.regatta.protocol.gather.EndReport;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.training.result.ExchangeFigures;
import io.regatta.training.result.Figures;
import java.util.function.DoubleConsumer;

/**
 * The summary of one rank in a run, which the ranks exchange at its end. Immutable.
 *
 * @param examples of all its replicas
 * @param seconds of the replica that took longest, first step to last
 * @param steps of replica 0
 * @param figures reported by replica 0
 * @param before examples that earlier incarnations of the run have trained; none if this rank has not trained
 */
record RankStats(int rank, long processId, long steps, long examples, double seconds, ExchangeFigures exchange,
    Figures figures, ExampleCounts before) {

  /** Returns the message in which a rank sends this to the others. */
  EndReport toReport() {
    EndReport.Builder report = EndReport.newBuilder().setRank(rank).setProcessId(processId).setSteps(steps).setExamples(examples)
        .setSeconds(seconds).setStalenessMax(exchange.stalenessMax()).setClockLeadMax(exchange.clockLeadMax())
        .setSkippedPushes(exchange.skippedPushes());
    put(figures.loss(), report::setLoss);
    put(figures.auc(), report::setAuc);
    put(figures.accuracy(), report::setAccuracy);
    put(figures.logloss(), report::setLogloss);
    if (!before.equals(ExampleCounts.NONE)) {
      report.setEarlier(EarlierExamples.newBuilder().setTrained(before.trained()).setRepeated(before.repeated()));
    }
    return report.build();
  }

  private static void put(double figure, DoubleConsumer field) {
    if (!Double.isNaN(figure)) {
      field.accept(figure);
    }
  }

  /** Returns the summary in a rank's message. */
  static RankStats of(EndReport r) {
    return new RankStats(r.getRank(), r.getProcessId(), r.getSteps(), r.getExamples(), r.getSeconds(),
        new ExchangeFigures(r.getStalenessMax(), r.getClockLeadMax(), r.getSkippedPushes()),
        new Figures(r.hasLoss() ? r.getLoss() : Double.NaN, r.hasAuc() ? r.getAuc() : Double.NaN,
            r.hasAccuracy() ? r.getAccuracy() : Double.NaN, r.hasLogloss() ? r.getLogloss() : Double.NaN),
        r.hasEarlier() ? new ExampleCounts(r.getEarlier().getTrained(), r.getEarlier().getRepeated(), 0) : ExampleCounts.NONE);
  }

  double examplesPerSecond() {
    return seconds > 0 ? examples / seconds : 0;
  }
}
