package io.regatta.node.admin;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import java.util.HashMap;
import java.util.Map;

/**
 * A counter with one row for each job, rank or the like, whose rows appear and disappear: Micrometer's
 * {@code MultiGauge} for values that only rise. Owned by one event loop; other threads read the registry.
 */
public final class MultiCounter {

  private static final class Row {
    private volatile double value;
    private FunctionCounter meter;
  }

  private final MeterRegistry registry;
  private final String name;
  private final String description;
  private final String unit;
  private final Tags common;
  private final Map<Tags, Row> rows = new HashMap<>();

  /**
   * Creates a counter without rows.
   *
   * @param unit base unit, e.g. {@code seconds}; null if it counts things
   * @param common tags of every row
   */
  public MultiCounter(MeterRegistry registry, String name, String description, String unit, Tags common) {
    this.registry = registry;
    this.name = name;
    this.description = description;
    this.unit = unit;
    this.common = common;
  }

  /** Shows these rows from now on, with their counts so far, and removes the others. */
  public void show(Map<Tags, Double> counts) {
    rows.entrySet().removeIf(row -> {
      boolean gone = !counts.containsKey(row.getKey());
      if (gone) {
        registry.remove(row.getValue().meter);
      }
      return gone;
    });
    counts.forEach((tags, count) -> rows.computeIfAbsent(tags, this::begin).value = count);
  }

  private Row begin(Tags tags) {
    Row row = new Row();
    row.meter = FunctionCounter.builder(name, row, r -> r.value).tags(common.and(tags)).description(description)
        .baseUnit(unit).register(registry);
    return row;
  }

  /** Takes all rows out of the registry. */
  public void close() {
    show(Map.of());
  }
}
