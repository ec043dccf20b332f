package io.regatta.parameterserver;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.regatta.core.shard.ParameterShard;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The meters of one shard: counters and staleness as requests go by, the state of each job when {@link #measure} is
 * called. Owned by the shard's event loop; the registry is read by others. {@link #close} takes them all out again.
 */
final class ShardMetrics {

  private final MeterRegistry registry;
  private final Tags shard;
  private final List<Meter> meters = new ArrayList<>();
  private final Map<String, MultiGauge> gauges = new LinkedHashMap<>();
  private final Counter pushes;
  private final Counter pulls;
  private final Counter bytesIn;
  private final Counter bytesOut;
  private final DistributionSummary staleness;

  ShardMetrics(MeterRegistry registry, int index) {
    this.registry = registry;
    shard = Tags.of("shard", Integer.toString(index));
    pushes = counter("regatta.shard.pushes", "pushes taken in", "");
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
    gauge("regatta.job.skipped.pushes", "pushes dropped for NaN or infinity");
    gauge("regatta.job.repeated.pushes", "pushes recognised as repeated");
    gauge("regatta.job.round.wait.seconds", "time that sync rounds have waited for the rank");
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

  /** Renews the gauges from the jobs as they are; those of jobs that have ended go. */
  void measure(List<ParameterShard.JobStatus> jobs) {
    Map<String, List<MultiGauge.Row<?>>> rows = new LinkedHashMap<>();
    gauges.keySet().forEach(name -> rows.put(name, new ArrayList<>()));
    for (ParameterShard.JobStatus s : jobs) {
      Tags job = Tags.of("job", s.job());
      rows.get("regatta.job.version").add(MultiGauge.Row.of(job, s.version()));
      s.rows().forEach((table, n) -> rows.get("regatta.job.rows").add(MultiGauge.Row.of(job.and("table", table), n)));
      rows.get("regatta.job.dense.elements").add(MultiGauge.Row.of(job, s.denseSize()));
      rows.get("regatta.job.staleness.max").add(MultiGauge.Row.of(job, s.stalenessMax()));
      rows.get("regatta.job.clock.lead.max").add(MultiGauge.Row.of(job, s.clockLeadMax()));
      rows.get("regatta.job.skipped.pushes").add(MultiGauge.Row.of(job, s.skippedPushes()));
      rows.get("regatta.job.repeated.pushes").add(MultiGauge.Row.of(job, s.repeatedPushes()));
      s.roundWaitMillis().forEach((rank, millis) -> rows.get("regatta.job.round.wait.seconds")
          .add(MultiGauge.Row.of(job.and("rank", Integer.toString(rank)), millis / 1000.0)));
      s.trainers().forEach(t -> rows.get("regatta.job.trainer.step")
          .add(MultiGauge.Row.of(job.and("rank", Integer.toString(t.rank())), t.lastStep())));
    }
    gauges.forEach((name, gauge) -> gauge.register(rows.get(name), true));
  }

  void close() {
    measure(List.of());
    meters.forEach(registry::remove);
  }
}
