package io.regatta.trainer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.regatta.node.admin.CounterSource;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.snapshot.SnapshotCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/**
 * The metrics of a running rank. Owned by {@link TrainerVerticle}, on its event loop; any thread may read the metrics.
 */
final class RankMeters {

  private final MeterRegistry registry;
  private final String job;
  private final LongSupplier step;
  private final RankSteps steps;
  private final LongSupplier badLines;
  private final SnapshotCounts snapshots;
  private final List<CounterSource> more;
  private final List<Meter> meters = new ArrayList<>();
  private Tags tags;

  /**
   * Registers the metrics.
   *
   * @param step returns the steps that the rank has made; any thread
   * @param badLines returns the lines of the data that it has skipped; any thread
   * @param more counters, of the services that this rank uses beside servers
   */
  RankMeters(MeterRegistry registry, String job, int rank, LongSupplier step, RankSteps steps, LongSupplier badLines,
      SnapshotCounts snapshots, List<CounterSource> more) {
    this.registry = registry;
    this.job = job;
    this.step = step;
    this.steps = steps;
    this.badLines = badLines;
    this.snapshots = snapshots;
    this.more = more;
    register(rank);
  }

  /** Registers the metrics under another rank, which it may have in the next generation of an elastic job. */
  void placed(int rank) {
    if (!tags.equals(tags(rank))) {
      remove();
      register(rank);
    }
  }

  /** Removes the metrics. */
  void remove() {
    meters.stream().filter(meter -> registered(meter.getId().getName()) == meter).forEach(registry::remove);
    meters.clear();
  }

  /**
   * Returns the meter with these tags. It may be another trainer's: trainers of one process may change ranks in any
   * order, and the new holder of a rank has its metrics.
   */
  private Meter registered(String name) {
    return registry.find(name).tags(tags).meter();
  }

  private void makeRoom(String name) {
    Meter before = registered(name);
    if (before != null) {
      registry.remove(before);
    }
  }

  private Tags tags(int rank) {
    return Tags.of("job", job, "rank", Integer.toString(rank));
  }

  private void register(int rank) {
    tags = tags(rank);
    counter("regatta.trainer.steps", "steps made by this rank", step::getAsLong);
    counter("regatta.trainer.pushes", "pushes made by this rank, each to all shards", steps::made);
    counter("regatta.trainer.skipped.pushes", "pushes left empty because of NaN or infinity", steps::skippedPushes);
    counter("regatta.trainer.bad.lines", "lines of the data skipped by data.on_bad_line, over all passes", badLines::getAsLong);
    gauge("regatta.trainer.staleness.max", "highest staleness of a push so far", steps::stalenessMax);
    gauge("regatta.trainer.clock.lead.max", "most clocks that this rank was ahead of the slowest at a pull",
        steps::clockLeadMax);
    counter("regatta.trainer.snapshots", "snapshots taken by this rank, and written", snapshots::taken);
    counter("regatta.trainer.snapshots.failed", "snapshots that this rank has begun, and that failed", snapshots::failures);
    counter("regatta.trainer.snapshots.bytes", "bytes of those taken", snapshots::bytes);
    counter("regatta.trainer.snapshots.seconds", "time that those took, from the request to the final name", snapshots::seconds);
    gauge("regatta.trainer.snapshots.step", "step of the last one taken; -1: none", snapshots::step);
    more.forEach(source -> counter(source.name(), source.description(), source.value()));
  }

  private void counter(String name, String description, DoubleSupplier value) {
    makeRoom(name);
    meters.add(FunctionCounter.builder(name, this, self -> value.getAsDouble()).tags(tags).description(description)
        .register(registry)); // a counter holds its object weakly; this object lives longer
  }

  private void gauge(String name, String description, LongSupplier value) {
    makeRoom(name);
    meters.add(Gauge.builder(name, value, LongSupplier::getAsLong).strongReference(true).tags(tags)
        .description(description).register(registry));
  }
}
