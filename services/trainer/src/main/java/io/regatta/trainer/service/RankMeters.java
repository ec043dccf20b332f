package io.regatta.trainer.service;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.regatta.trainer.djl.RankSteps;
import io.regatta.trainer.run.RankRun;
import io.regatta.trainer.snapshot.SnapshotCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;

/** What a running rank tells of itself. Owned by {@link TrainerVerticle}, on its event loop; the figures are read by any thread. */
final class RankMeters {

  private final MeterRegistry registry;
  private final String job;
  private final LongSupplier step;
  private final RankRun run;
  private final List<Meter> meters = new ArrayList<>();
  private Tags tags;

  /** @param step steps that the rank has made; any thread */
  RankMeters(MeterRegistry registry, String job, int rank, LongSupplier step, RankRun run) {
    this.registry = registry;
    this.job = job;
    this.step = step;
    this.run = run;
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
    meters.forEach(registry::remove);
    meters.clear();
  }

  private Tags tags(int rank) {
    return Tags.of("job", job, "rank", Integer.toString(rank));
  }

  private void register(int rank) {
    tags = tags(rank);
    RankSteps steps = run.steps();
    counter("regatta.trainer.steps", "steps made by this rank", step::getAsLong);
    counter("regatta.trainer.pushes", "pushes made by this rank, each to all shards", steps::made);
    counter("regatta.trainer.skipped.pushes", "pushes left empty for NaN or infinity", steps::skippedPushes);
    counter("regatta.trainer.bad.lines", "lines of the data left out, as data.on_bad_line says, over all passes", run::badLines);
    gauge("regatta.trainer.staleness.max", "highest staleness of a push so far", steps::stalenessMax);
    gauge("regatta.trainer.clock.lead.max", "most clocks that this rank was ahead of the slowest at a pull",
        steps::clockLeadMax);
    SnapshotCounts snapshots = run.snapshots();
    counter("regatta.trainer.snapshots", "snapshots taken by this rank, and written", snapshots::taken);
    counter("regatta.trainer.snapshots.failed", "snapshots that this rank has begun, and that failed", snapshots::failures);
    counter("regatta.trainer.snapshots.bytes", "bytes of those taken", snapshots::bytes);
    counter("regatta.trainer.snapshots.seconds", "time that those took, from the asking to the name", snapshots::seconds);
    gauge("regatta.trainer.snapshots.step", "step of the last one taken; -1: none", snapshots::step);
  }

  private void counter(String name, String description, DoubleSupplier value) {
    meters.add(FunctionCounter.builder(name, this, self -> value.getAsDouble()).tags(tags).description(description)
        .register(registry)); // a counter holds its object weakly, and this outlives it
  }

  private void gauge(String name, String description, LongSupplier value) {
    meters.add(Gauge.builder(name, value, LongSupplier::getAsLong).strongReference(true).tags(tags)
        .description(description).register(registry));
  }
}
