package io.regatta.heterworker;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.regatta.training.heter.queue.QueueCounts;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToDoubleFunction;

/** The metrics of a heter worker. Owned by its verticle, on its event loop; any thread may read the metrics. */
final class HeterMeters {

  private final MeterRegistry registry;
  private final Tags tags;
  private final QueueCounts counts;
  private final AtomicInteger waiting = new AtomicInteger();
  private final List<Meter> meters = new ArrayList<>();

  HeterMeters(MeterRegistry registry, String job, int index, QueueCounts counts) {
    this.registry = registry;
    this.counts = counts;
    tags = Tags.of("job", job, "index", Integer.toString(index));
    counter("regatta.heter.batches", null, "batches computed", QueueCounts::batches);
    counter("regatta.heter.examples", null, "examples computed", QueueCounts::examples);
    counter("regatta.heter.gathered", null, "batches computed together with others", QueueCounts::gathered);
    counter("regatta.heter.dropped", null, "batches whose trainer was gone before they were computed", QueueCounts::dropped);
    counter("regatta.heter.busy", "seconds", "time for which the model thread has computed", QueueCounts::busySeconds);
    counter("regatta.heter.wait", "seconds", "time for which batches have waited for the model thread", QueueCounts::waitedSeconds);
    meters.add(Gauge.builder("regatta.heter.waiting", waiting, AtomicInteger::get).tags(tags)
        .description("batches that wait for the model thread").register(registry));
  }

  /** Shows how many batches wait now. */
  void show(int batches) {
    waiting.set(batches);
  }

  void remove() {
    meters.forEach(registry::remove);
  }

  private void counter(String name, String unit, String description, ToDoubleFunction<QueueCounts> value) {
    meters.add(FunctionCounter.builder(name, counts, value).tags(tags).baseUnit(unit).description(description)
        .register(registry));
  }
}
