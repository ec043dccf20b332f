package io.regatta.parameterserver;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.table.TableCounts;
import io.regatta.node.admin.MultiCounter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The meters of one shard: counters and staleness as requests go by, the state of each job when {@link #measure} is
 * called. Owned by the shard's event loop; the registry is read by others. {@link #close} takes them all out again.
 */
final class ShardMetrics {

  private static final String BIRTHS = "regatta.job.rows.born";
  private static final String ADMITTED = "regatta.job.rows.admitted";
  private static final String RESTORED = "regatta.job.rows.restored";
  private static final String AGED = "regatta.job.rows.aged";
  private static final String SHRINKS = "regatta.job.shrinks";
  private static final String REFUSED = "regatta.job.refused";
  private static final String NOT_ADMITTED = "regatta.job.pulls.not.admitted";
  private static final String DROPPED = "regatta.job.gradients.dropped";
  private static final String REMOVED = "regatta.job.rows.removed";
  private static final String ROUND_WAIT = "regatta.job.round.wait";

  private final MeterRegistry registry;
  private final Tags shard;
  private final List<Meter> meters = new ArrayList<>();
  private final Map<String, MultiGauge> gauges = new LinkedHashMap<>();
  private final Map<String, MultiCounter> counters = new LinkedHashMap<>();
  private final Counter pushes;
  private final Counter pulls;
  private final Counter bytesIn;
  private final Counter bytesOut;
  private final DistributionSummary staleness;

  ShardMetrics(MeterRegistry registry, int index) {
    this.registry = registry;
    shard = Tags.of("shard", Integer.toString(index));
    pushes = counter("regatta.shard.pushes", "pushes taken in, each once", "");
    pulls = counter("regatta.shard.pulls", "pulls answered", "");
    bytesIn = counter("regatta.shard.received", "gradients received", "bytes");
    bytesOut = counter("regatta.shard.sent", "values sent", "bytes");
    staleness = DistributionSummary.builder("regatta.shard.staleness").tags(shard)
        .description("updates of others between a push's pull and its application").register(registry);
    meters.add(staleness);
    gauge("regatta.job.version", "updates applied");
    gauge("regatta.job.rows", "sparse rows");
    gauge("regatta.job.dense.elements", "elements of the shard's dense vector");
    gauge("regatta.job.staleness.max", "highest staleness so far");
    gauge("regatta.job.clock.lead.max", "most clocks that a trainer was ahead of the slowest at a pull");
    rising("regatta.job.skipped.pushes", "pushes dropped for NaN or infinity", null);
    rising("regatta.job.repeated.pushes", "pushes recognised as repeated", null);
    rising(ROUND_WAIT, "time that sync rounds have waited for the rank (behind an aggregator see there, too)", "seconds");
    rising(REFUSED, "pulls and pushes refused because their rows would have passed a limit, at each table of theirs", null);
    rising(BIRTHS, "sparse rows born, restored ones included", null);
    rising(ADMITTED, "rows that a training pull has admitted", null);
    rising(RESTORED, "rows put in their places from a snapshot", null);
    rising(SHRINKS, "shrinks that have gone through the table", null);
    rising(AGED, "rows looked at by shrinks: decayed, and a day older if one had ended", null);
    rising(NOT_ADMITTED, "rows pulled in training that were not admitted", null);
    rising(DROPPED, "gradients dropped because their row was not admitted", null);
    rising(REMOVED, "sparse rows removed, by reason", null);
    gauge("regatta.job.trainer.step", "last step pushed by the rank");
  }

  private Counter counter(String name, String description, String unit) {
    Counter counter = Counter.builder(name).tags(shard).description(description)
        .baseUnit(unit.isEmpty() ? null : unit).register(registry);
    meters.add(counter);
    return counter;
  }

  private void gauge(String name, String description) {
    gauges.put(name, MultiGauge.builder(name).tags(shard).description(description).register(registry));
  }

  private void rising(String name, String description, String unit) {
    counters.put(name, new MultiCounter(registry, name, description, unit, shard));
  }

  void received(long bytes) {
    bytesIn.increment(bytes);
  }

  void pushed(long stale) {
    pushes.increment();
    staleness.record(stale);
  }

  void pulled(long bytes) {
    pulls.increment();
    bytesOut.increment(bytes);
  }

  /** Renews what is told of each job; that of jobs that have ended goes. */
  void measure(List<ParameterShard.JobStatus> jobs) {
    Map<String, List<MultiGauge.Row<?>>> rows = new LinkedHashMap<>();
    gauges.keySet().forEach(name -> rows.put(name, new ArrayList<>()));
    Map<String, Map<Tags, Double>> counts = new LinkedHashMap<>();
    counters.keySet().forEach(name -> counts.put(name, new HashMap<>()));
    for (ParameterShard.JobStatus s : jobs) {
      Tags job = Tags.of("job", s.job());
      rows.get("regatta.job.version").add(MultiGauge.Row.of(job, s.version()));
      s.rows().forEach((table, n) -> rows.get("regatta.job.rows").add(MultiGauge.Row.of(job.and("table", table), n)));
      rows.get("regatta.job.dense.elements").add(MultiGauge.Row.of(job, s.denseSize()));
      rows.get("regatta.job.staleness.max").add(MultiGauge.Row.of(job, s.stalenessMax()));
      rows.get("regatta.job.clock.lead.max").add(MultiGauge.Row.of(job, s.clockLeadMax()));
      counts.get("regatta.job.skipped.pushes").put(job, (double) s.skippedPushes());
      counts.get("regatta.job.repeated.pushes").put(job, (double) s.repeatedPushes());
      s.counts().forEach((table, c) -> table(counts, job.and("table", table), c));
      s.roundWaitMillis().forEach((rank, millis) ->
          counts.get(ROUND_WAIT).put(job.and("rank", Integer.toString(rank)), millis / 1000.0));
      s.trainers().forEach(t -> rows.get("regatta.job.trainer.step")
          .add(MultiGauge.Row.of(job.and("rank", Integer.toString(t.rank())), t.lastStep())));
    }
    gauges.forEach((name, gauge) -> gauge.register(rows.get(name), true));
    counters.forEach((name, counter) -> counter.show(counts.get(name)));
  }

  private static void table(Map<String, Map<Tags, Double>> counts, Tags table, TableCounts c) {
    counts.get(BIRTHS).put(table, (double) c.births());
    counts.get(ADMITTED).put(table, (double) c.admitted());
    counts.get(RESTORED).put(table, (double) c.restored());
    counts.get(SHRINKS).put(table, (double) c.shrinks());
    counts.get(AGED).put(table, (double) c.aged());
    counts.get(REFUSED).put(table, (double) c.refused());
    counts.get(NOT_ADMITTED).put(table, (double) c.notAdmittedPulls());
    counts.get(DROPPED).put(table, (double) c.droppedGradients());
    counts.get(REMOVED).put(table.and("reason", "score"), (double) c.shrunkByScore());
    counts.get(REMOVED).put(table.and("reason", "unseen"), (double) c.shrunkUnseen());
    counts.get(REMOVED).put(table.and("reason", "ttl"), (double) c.expired());
    counts.get(REMOVED).put(table.and("reason", "evicted"), (double) c.evicted());
  }

  void close() {
    measure(List.of());
    meters.forEach(registry::remove);
  }
}
