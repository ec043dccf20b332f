package io.regatta.parameterserver;

import io.prometheus.metrics.model.snapshots.Labels;
import io.regatta.core.table.TableCounts;
import io.regatta.node.admin.PublishedValues;
import io.regatta.node.admin.SampleFamilies;
import io.regatta.node.admin.SampleFamilies.Family;
import io.regatta.node.admin.SampleFamilies.Samples;
import java.util.Set;
import java.util.function.ToLongFunction;

/**
 * The metrics of the sparse tables of one shard's jobs. Written on the shard's event loop only, read by any thread.
 * There is one entry for each table, which scrapes read. Measuring a table, even a new one, therefore costs little, and
 * can be spread over time slices.
 */
final class TableMeters implements SampleFamilies.Source {

  private record Shown(Labels labels, long rows, TableCounts counts) {}

  private record Counter(Family family, String reason, ToLongFunction<TableCounts> count) {}

  private static final Family ROWS = new Family("regatta_job_rows", "sparse rows", false);
  private static final Family REMOVED = new Family("regatta_job_rows_removed", "sparse rows removed, by reason", true);
  private static final Counter[] COUNTERS = {
      counter("regatta_job_refused", "pulls and pushes refused because their rows would have passed a limit, at each table of theirs",
          TableCounts::refused),
      counter("regatta_job_rows_born", "sparse rows born, restored ones included", TableCounts::births),
      counter("regatta_job_rows_admitted", "rows that a training pull has admitted", TableCounts::admitted),
      counter("regatta_job_rows_restored", "rows put in their places from a snapshot", TableCounts::restored),
      counter("regatta_job_shrinks", "shrinks that have gone through the table", TableCounts::shrinks),
      counter("regatta_job_rows_aged", "rows looked at by shrinks: decayed, and a day older if one had ended", TableCounts::aged),
      counter("regatta_job_pulls_not_admitted", "rows pulled in training that were not admitted", TableCounts::notAdmittedPulls),
      counter("regatta_job_gradients_dropped", "gradients dropped because their row was not admitted",
          TableCounts::droppedGradients),
      new Counter(REMOVED, "score", TableCounts::shrunkByScore), new Counter(REMOVED, "unseen", TableCounts::shrunkUnseen),
      new Counter(REMOVED, "ttl", TableCounts::expired), new Counter(REMOVED, "evicted", TableCounts::evicted)};

  private final String shard;
  /** Published values by job, then by table. */
  private final PublishedValues<Shown> tables = new PublishedValues<>();

  TableMeters(int shard) {
    this.shard = Integer.toString(shard);
  }

  private static Counter counter(String name, String description, ToLongFunction<TableCounts> count) {
    return new Counter(new Family(name, description, true), null, count);
  }

  /** Publishes the present values of a table. */
  void show(String job, String table, long rows, TableCounts counts) {
    Shown before = tables.get(job, table);
    if (before == null || before.rows != rows || !before.counts.equals(counts)) {
      tables.put(job, table, new Shown(before == null ? Labels.of("job", job, "shard", shard, "table", table) : before.labels, rows,
          counts));
    }
  }

  /** Removes a job that has been freed: one that begins under its name may have other tables. */
  void forget(String job) {
    tables.remove(job);
  }

  /** Removes the jobs that are not among these. */
  void retain(Set<String> there) {
    tables.retain(there);
  }

  @Override
  public void show(Samples to) {
    tables.forEach(t -> {
      to.add(ROWS, t.labels, t.rows);
      for (Counter c : COUNTERS) {
        to.add(c.family, c.reason == null ? t.labels : t.labels.add("reason", c.reason), c.count.applyAsLong(t.counts));
      }
    });
  }
}
