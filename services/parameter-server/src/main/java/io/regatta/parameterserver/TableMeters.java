package io.regatta.parameterserver;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.regatta.core.table.TableCounts;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * Meters of the sparse tables of one shard's jobs. A table's are registered once and then read what was last shown, so a tick
 * costs little for each table, and can be spread over turns. Owned by the shard's event loop; the registry is read by others.
 */
final class TableMeters {

  /** Cost of registering or removing the meters of a table, if renewing them costs 1. */
  static final int REGISTERED = 64;

  private static final class Row {
    private final List<Meter> meters = new ArrayList<>();
    private volatile long rows;
    private volatile TableCounts counts;
  }

  private final MeterRegistry registry;
  private final Tags shard;
  /** By job, then by table. */
  private final Map<String, Map<String, Row>> jobs = new LinkedHashMap<>();

  TableMeters(MeterRegistry registry, Tags shard) {
    this.registry = registry;
    this.shard = shard;
  }

  /** Shows a table as it is now; returns what that cost. */
  int show(String job, String table, long rows, TableCounts counts) {
    Map<String, Row> tables = jobs.computeIfAbsent(job, j -> new HashMap<>());
    Row row = tables.get(table);
    boolean begins = row == null;
    if (begins) {
      row = new Row();
    }
    row.rows = rows;
    row.counts = counts;
    if (begins) {
      try {
        register(row, shard.and("job", job, "table", table));
      } catch (RuntimeException e) {
        row.meters.forEach(registry::remove); // all of them are registered at the next look
        throw e;
      }
      tables.put(table, row);
    }
    return begins ? REGISTERED : 1;
  }

  private void register(Row row, Tags tags) {
    row.meters.add(Gauge.builder("regatta.job.rows", row, r -> r.rows).tags(tags).description("sparse rows")
        .register(registry));
    counter(row, tags, "regatta.job.refused",
        "pulls and pushes refused because their rows would have passed a limit, at each table of theirs", TableCounts::refused);
    counter(row, tags, "regatta.job.rows.born", "sparse rows born, restored ones included", TableCounts::births);
    counter(row, tags, "regatta.job.rows.admitted", "rows that a training pull has admitted", TableCounts::admitted);
    counter(row, tags, "regatta.job.rows.restored", "rows put in their places from a snapshot", TableCounts::restored);
    counter(row, tags, "regatta.job.shrinks", "shrinks that have gone through the table", TableCounts::shrinks);
    counter(row, tags, "regatta.job.rows.aged", "rows looked at by shrinks: decayed, and a day older if one had ended",
        TableCounts::aged);
    counter(row, tags, "regatta.job.pulls.not.admitted", "rows pulled in training that were not admitted",
        TableCounts::notAdmittedPulls);
    counter(row, tags, "regatta.job.gradients.dropped", "gradients dropped because their row was not admitted",
        TableCounts::droppedGradients);
    removed(row, tags, "score", TableCounts::shrunkByScore);
    removed(row, tags, "unseen", TableCounts::shrunkUnseen);
    removed(row, tags, "ttl", TableCounts::expired);
    removed(row, tags, "evicted", TableCounts::evicted);
  }

  private void removed(Row row, Tags tags, String reason, ToLongFunction<TableCounts> count) {
    counter(row, tags.and("reason", reason), "regatta.job.rows.removed", "sparse rows removed, by reason", count);
  }

  private void counter(Row row, Tags tags, String name, String description, ToLongFunction<TableCounts> count) {
    row.meters.add(FunctionCounter.builder(name, row, r -> count.applyAsLong(r.counts)).tags(tags)
        .description(description).register(registry));
  }

  /**
   * Removes meters of jobs that are not among these, until that has cost so much.
   *
   * @return what is left of the slice; 0 or less if there may be more to remove
   */
  int forget(Set<String> there, int slice) {
    int left = slice;
    for (Iterator<Map.Entry<String, Map<String, Row>>> all = jobs.entrySet().iterator(); left > 0 && all.hasNext(); ) {
      Map.Entry<String, Map<String, Row>> job = all.next();
      if (there.contains(job.getKey())) {
        continue;
      }
      for (Iterator<Row> rows = job.getValue().values().iterator(); left > 0 && rows.hasNext(); left -= REGISTERED) {
        rows.next().meters.forEach(registry::remove);
        rows.remove();
      }
      if (job.getValue().isEmpty()) {
        all.remove();
      }
    }
    return left;
  }
}
