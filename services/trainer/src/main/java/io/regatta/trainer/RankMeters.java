package io.regatta.trainer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.snapshot.SnapshotCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** What a running rank tells of itself. Owned by {@link TrainerVerticle}, on its event loop; the figures are read by any thread. */
final class RankMeters {

  private final MeterRegistry registry;
  private final String job;
  private final LongSupplier step;
  private final RankSteps steps;
  private final LongSupplier badLines;
  private final SnapshotCounts snapshots;
  private final List<Meter> meters = new ArrayList<>();
  private Tags tags;

  /**
   * Registers them.
   *
   * @param step steps that the rank has made; any thread
   * @param badLines lines of the data that it has left out; any thread
   */
  RankMeters(MeterRegistry registry, String job, int rank, LongSupplier step, RankSteps steps, LongSupplier badLines,
      SnapshotCounts snapshots) {
    this.registry = registry;
    this.job = job;
    this.step = step;
    this.steps = steps;
    this.badLines = badLines;
    this.snapshots = snapshots;
    register(rank);
  }

  /** In the next generation of an elastic job the rank may be another, under which figures are told. */
  void placed(int rank) {
    if (!tags.equals(tags(rank))) {
      remove();
      register(rank);
    }
  }

  /** They are told no longer. */
  void remove() {
    meters.stream().filter(meter -> registered(meter.getId().getName()) == meter).forEach(registry::remove);
    meters.clear();
  }

  /** Who has these tags now: trainers of one process may change ranks in any order, and the next one of a rank has its figures. */
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
    counter("regatta.trainer.skipped.pushes", "pushes left empty for NaN or infinity", steps::skippedPushes);
    counter("regatta.trainer.bad.lines", "lines of the data left out, as data.on_bad_line says, over all passes", badLines::getAsLong);
    gauge("regatta.trainer.staleness.max", "highest staleness of a push so far", steps::stalenessMax);
    gauge("regatta.trainer.clock.lead.max", "most clocks that this rank was ahead of the slowest at a pull",
        steps::clockLeadMax);
    counter("regatta.trainer.snapshots", "snapshots taken by this rank, and written", snapshots::taken);
    counter("regatta.trainer.snapshots.failed", "snapshots that this rank has begun, and that failed", snapshots::failures);
    counter("regatta.trainer.snapshots.bytes", "bytes of those taken", snapshots::bytes);
    counter("regatta.trainer.snapshots.seconds", "time that those took, from the asking to the name", snapshots::seconds);
    gauge("regatta.trainer.snapshots.step", "step of the last one taken; -1: none", snapshots::step);
  }

  private void counter(String name, String description, DoubleSupplier value) {
    makeRoom(name);
    meters.add(FunctionCounter.builder(name, this, self -> value.getAsDouble()).tags(tags).description(description)
        .register(registry)); // a counter holds its object weakly, and this outlives it
  }

  private void gauge(String name, String description, LongSupplier value) {
    makeRoom(name);
    meters.add(Gauge.builder(name, value, LongSupplier::getAsLong).strongReference(true).tags(tags)
        .description(description).register(registry));
  }
}
