package io.regatta.training.run;

import io.regatta.protocol.gather.EarlierExamples;
import io.regatta.protocol.gather.EndReport;
import io.regatta.snapshot.ExampleCounts;
import io.regatta.training.result.ExchangeFigures;
import io.regatta.training.result.MetricNames;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The summary of one rank in a run, which the ranks exchange at its end. Immutable.
 *
 * @param examples of all its replicas
 * @param seconds of the replica that took longest, first step to last
 * @param steps of replica 0
 * @param metrics that replica 0 has reported, of {@link MetricNames#TOP_LEVEL}; none is NaN
 * @param before examples that earlier incarnations of the run have trained; none if this rank has not trained
 */
record RankStats(int rank, long processId, long steps, long examples, double seconds, ExchangeFigures exchange,
    Map<String, Double> metrics, ExampleCounts before) {

  RankStats {
    Map<String, Double> topLevel = new LinkedHashMap<>();
    for (String name : MetricNames.TOP_LEVEL) {
      double value = metrics.getOrDefault(name, Double.NaN);
      if (!Double.isNaN(value)) {
        topLevel.put(name, value);
      }
    }
    metrics = Collections.unmodifiableMap(topLevel);
  }

  /** Returns the message in which a rank sends this to the others. */
  EndReport toReport() {
    EndReport.Builder report = EndReport.newBuilder().setRank(rank).setProcessId(processId).setSteps(steps).setExamples(examples)
        .setSeconds(seconds).setStalenessMax(exchange.stalenessMax()).setClockLeadMax(exchange.clockLeadMax())
        .setSkippedPushes(exchange.skippedPushes()).putAllMetrics(metrics);
    if (!before.equals(ExampleCounts.NONE)) {
      report.setEarlier(EarlierExamples.newBuilder().setTrained(before.trained()).setRepeated(before.repeated()));
    }
    return report.build();
  }

  /** Returns the summary in a rank's message. */
  static RankStats of(EndReport r) {
    return new RankStats(r.getRank(), r.getProcessId(), r.getSteps(), r.getExamples(), r.getSeconds(),
        new ExchangeFigures(r.getStalenessMax(), r.getClockLeadMax(), r.getSkippedPushes()),
        r.getMetricsMap(), r.hasEarlier()
            ? new ExampleCounts(r.getEarlier().getTrained(), r.getEarlier().getRepeated(), 0) : ExampleCounts.NONE);
  }

  double examplesPerSecond() {
    return seconds > 0 ? examples / seconds : 0;
  }
}
