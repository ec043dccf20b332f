package io.regatta.parameterserver;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.TableCursor;
import io.regatta.node.admin.MultiCounter;
import io.regatta.node.admin.SampleFamilies;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The meters of one shard. Owned by the shard's event loop; other threads read the registry. {@link #close} removes
 * them all. Counters and staleness are recorded with each request; the state of each job and table is measured by a
 * {@link Tick}.
 */
public final class ShardMetrics {

  /** Number of tables that are measured in a time slice. */
  private static final int SLICE = 512;

  /** One measurement of all jobs and tables, spread over time slices. */
  public final class Tick {
    private final ParameterShard from;
    private final Set<String> there;
    private final Iterator<String> jobs;
    private boolean begun;
    private String job;
    private TableCursor tables;

    private Tick(ParameterShard from) {
      this.from = from;
      there = Set.copyOf(from.jobs());
      jobs = there.iterator();
    }

    /** Measures a further slice; returns true if there is more to do. */
    public boolean advance() {
      if (!begun) {
        begun = true;
        byTable.retain(there);
        measure(from.jobs().stream().map(from::summary).toList());
        return true;
      }
      int left = SLICE;
      while (left > 0 && (tables != null || jobs.hasNext())) {
        if (tables == null) {
          job = jobs.next();
          tables = from.tableCursor(job);
        }
        left = tables.advance(left, (table, rows, counts) -> {
          byTable.show(job, table, rows, counts);
          return 1;
        });
        tables = left > 0 ? null : tables;
      }
      return left <= 0;
    }

    private void forget(String freed) {
      if (freed.equals(job)) {
        tables = null;
      }
    }
  }

  private static final String ROUND_WAIT = "regatta.job.round.wait";

  private final MeterRegistry registry;
  private final Tags shard;
  private final TableMeters byTable;
  private final List<Meter> meters = new ArrayList<>();
  private final Map<String, MultiGauge> gauges = new LinkedHashMap<>();
  private final Map<String, MultiCounter> counters = new LinkedHashMap<>();
  private final Counter pushes;
  private final Counter pulls;
  private final Counter bytesIn;
  private final Counter bytesOut;
  private final DistributionSummary staleness;
  private final SampleFamilies families;
  /** The last measurement; null before there is one. */
  private Tick tick;

  /**
   * Creates the meters.
   *
   * @param families of the same node as the registry
   * @param index of the shard in the shard map
   */
  public ShardMetrics(MeterRegistry registry, SampleFamilies families, int index) {
    this.families = families;
    this.registry = registry;
    shard = Tags.of("shard", Integer.toString(index));
    byTable = new TableMeters(index);
    families.add(byTable);
    pushes = counter("regatta.shard.pushes", "pushes taken in, each once", "");
    pulls = counter("regatta.shard.pulls", "pulls answered", "");
    bytesIn = counter("regatta.shard.received", "gradients received", "bytes");
    bytesOut = counter("regatta.shard.sent", "values sent", "bytes");
    staleness = DistributionSummary.builder("regatta.shard.staleness").tags(shard)
        .description("updates of others between a push's pull and its application").register(registry);
    meters.add(staleness);
    gauge("regatta.job.version", "updates applied");
    gauge("regatta.job.dense.elements", "elements of the shard's dense vector");
    gauge("regatta.job.staleness.max", "highest staleness so far");
    gauge("regatta.job.clock.lead.max", "most clocks that a trainer was ahead of the slowest at a pull");
    rising("regatta.job.skipped.pushes", "pushes dropped for NaN or infinity", null);
    rising("regatta.job.repeated.pushes", "pushes recognised as repeated", null);
    rising(ROUND_WAIT, "time that sync rounds have waited for the rank (behind an aggregator see there, too)", "seconds");
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

  /**
   * Begins to measure each job and table again; jobs that have ended are removed. The measurement before must have
   * ended.
   */
  public Tick tick(ParameterShard from) {
    tick = new Tick(from);
    return tick;
  }

  /** Removes the tables of a job that has been freed, even during a measurement. */
  public void forget(String job) {
    byTable.forget(job);
    if (tick != null) {
      tick.forget(job);
    }
  }

  private void measure(List<ParameterShard.JobStatus> jobs) {
    Map<String, List<MultiGauge.Row<?>>> rows = new LinkedHashMap<>();
    gauges.keySet().forEach(name -> rows.put(name, new ArrayList<>()));
    Map<String, Map<Tags, Double>> counts = new LinkedHashMap<>();
    counters.keySet().forEach(name -> counts.put(name, new HashMap<>()));
    for (ParameterShard.JobStatus s : jobs) {
      Tags job = Tags.of("job", s.job());
      rows.get("regatta.job.version").add(MultiGauge.Row.of(job, s.version()));
      rows.get("regatta.job.dense.elements").add(MultiGauge.Row.of(job, s.denseSize()));
      rows.get("regatta.job.staleness.max").add(MultiGauge.Row.of(job, s.stalenessMax()));
      rows.get("regatta.job.clock.lead.max").add(MultiGauge.Row.of(job, s.clockLeadMax()));
      counts.get("regatta.job.skipped.pushes").put(job, (double) s.skippedPushes());
      counts.get("regatta.job.repeated.pushes").put(job, (double) s.repeatedPushes());
      s.roundWaitMillis().forEach((rank, millis) ->
          counts.get(ROUND_WAIT).put(job.and("rank", Integer.toString(rank)), millis / 1000.0));
      s.trainers().forEach(t -> rows.get("regatta.job.trainer.step")
          .add(MultiGauge.Row.of(job.and("rank", Integer.toString(t.rank())), t.lastStep())));
    }
    gauges.forEach((name, gauge) -> gauge.register(rows.get(name), true));
    counters.forEach((name, counter) -> counter.show(counts.get(name)));
  }

  /** Removes all meters. */
  public void close() {
    measure(List.of());
    meters.forEach(registry::remove);
    families.remove(byTable);
  }
}
