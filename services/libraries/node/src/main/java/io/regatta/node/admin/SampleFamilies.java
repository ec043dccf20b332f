package io.regatta.node.admin;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Metrics of many samples each, e.g. one for each sparse table. Their owners keep the values and show them to each
 * scrape. Micrometer would keep an object for each sample, in maps that it resizes at once: with 140,000 samples that
 * takes longer than one task of an event loop may. Thread-safe.
 */
public final class SampleFamilies implements MultiCollector {

  /**
   * A metric.
   *
   * @param name as Prometheus spells it, without {@code _total}
   * @param description for {@code HELP}
   * @param rises whether its samples are counters, which only rise; else gauges
   */
  public record Family(String name, String description, boolean rises) {}

  /** Owner of samples. */
  public interface Source {
    /** Shows all samples as they are now. Any thread, at each scrape. */
    void show(Samples to);
  }

  /** Samples of one scrape. For one thread. */
  public static final class Samples {
    private final Map<Family, List<CounterSnapshot.CounterDataPointSnapshot>> counters = new LinkedHashMap<>();
    private final Map<Family, List<GaugeSnapshot.GaugeDataPointSnapshot>> gauges = new LinkedHashMap<>();

    /** Adds a sample of a family. */
    public void add(Family family, Labels labels, double value) {
      if (family.rises) {
        counters.computeIfAbsent(family, f -> new ArrayList<>())
            .add(new CounterSnapshot.CounterDataPointSnapshot(value, labels, null, 0));
      } else {
        gauges.computeIfAbsent(family, f -> new ArrayList<>())
            .add(new GaugeSnapshot.GaugeDataPointSnapshot(value, labels, null));
      }
    }

    private MetricSnapshots all() {
      MetricSnapshots.Builder all = MetricSnapshots.builder();
      counters.forEach((f, samples) -> {
        CounterSnapshot.Builder counter = CounterSnapshot.builder().name(f.name).help(f.description);
        samples.forEach(counter::dataPoint);
        all.metricSnapshot(counter.build());
      });
      gauges.forEach((f, samples) -> {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder().name(f.name).help(f.description);
        samples.forEach(gauge::dataPoint);
        all.metricSnapshot(gauge.build());
      });
      return all.build();
    }
  }

  private final Set<Source> sources = ConcurrentHashMap.newKeySet();

  /** Shows a source's samples from now on. */
  public void add(Source source) {
    sources.add(source);
  }

  /** Stops showing a source's samples. */
  public void remove(Source source) {
    sources.remove(source);
  }

  @Override
  public MetricSnapshots collect() {
    Samples samples = new Samples();
    sources.forEach(source -> source.show(samples));
    return samples.all();
  }
}
