package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.InputRow;
import io.regatta.core.progress.LoadListener;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.RowFormat.Place;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource.Cursor;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.TableStatistics.Facts;
import io.regatta.data.feature.TableStatistics.FileFact;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A pass over the training rows of a table that computes the statistics of its features. Rows are cut into chunks.
 * Threads summarize chunks, and the summaries are merged in the order of chunks, so that the result does not depend on
 * the number of threads. Validation and test rows enter no statistic. One owner.
 *
 * @param <R> a row of the format
 */
public final class TableAnalysis<R> {

  private static final int CHUNK_ROWS = 1 << 14;
  /** Rows that are summarized column by column. */
  private static final int BLOCK_ROWS = 1 << 9;
  private static final int CHUNKS_PER_THREAD = 2;

  private final RowReader<R> reader;
  private final TableSummary.FeaturePlan plan;
  private final TableSummary sum;
  private final BadLines badLines;
  private final int threads;
  private final Deque<Future<TableSummary>> waiting = new ArrayDeque<>();
  private long chunks;

  private TableAnalysis(RowReader<R> reader, TableSummary.FeaturePlan plan, BadLines badLines, int threads) {
    this.reader = reader;
    this.plan = plan;
    this.badLines = badLines;
    this.threads = threads;
    this.sum = new TableSummary(plan, -1);
  }

  /**
   * Computes the statistics. Blocks.
   *
   * @param rows whose columns begin with those of the features
   * @param parts of the rows; only training rows are read
   * @param distinctLimit most distinct values of a namespace that are counted
   * @throws InvalidInput if there is no good row, or more distinct values than the limit must be counted
   */
  public static <R> TableStatistics run(RowFormat<R> rows, List<Path> files, List<Feature> features, RowLabels labels,
      RowParts parts, int threads, int distinctLimit, BadLines badLines, LoadListener progress) {
    TableSummary.FeaturePlan plan = TableSummary.plan(features, distinctLimit);
    RowReader<R> reader = new RowReader<>(rows, plan.transform(), labels);
    return new TableAnalysis<>(reader, plan, badLines, threads).run(files, parts, progress);
  }

  private TableStatistics run(List<Path> files, RowParts parts, LoadListener progress) {
    long skipped = badLines.skipped();
    Boundaries boundaries = parts.needBoundary() ? boundaries(files, parts) : Boundaries.NONE;
    RowSplit split = parts.split(boundaries, RowSplit.Part.TRAIN);
    long all = files.stream().mapToLong(DataFiles::size).sum();
    long[] rowsOf = new long[files.size()];
    AtomicInteger number = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(threads, task -> {
      Thread thread = new Thread(task, "regatta-analyze-" + number.getAndIncrement());
      thread.setDaemon(true);
      return thread;
    });
    try (Cursor<R> cursor = reader.rows().open(new FileQueue(files, 0), DataCursor.startOf(0))) {
      List<R> chunk = new ArrayList<>();
      for (R row = cursor.next(); row != null; row = cursor.next()) {
        Place place = reader.rows().place(row);
        rowsOf[place.fileNumber()]++;
        if (split.has(place)) {
          chunk.add(row);
        }
        if (chunk.size() == CHUNK_ROWS) {
          submit(pool, chunk);
          chunk = new ArrayList<>();
          progress.loaded(cursor.bytesBehind(), all);
        }
      }
      submit(pool, chunk);
      mergeUntil(0);
      progress.loaded(all, all);
    } finally {
      pool.shutdownNow();
    }
    if (sum.rows() == 0) {
      throw new InvalidInput("there are no training rows in " + files + ": statistics need at least one good row");
    }
    List<FileFact> facts = new ArrayList<>();
    for (int i = 0; i < files.size(); i++) {
      facts.add(new FileFact(DataFiles.name(files.get(i)), DataFiles.size(files.get(i)), rowsOf[i]));
    }
    Map<String, List<Counted>> values = sum.frequentValues();
    FeatureStatistics statistics = sum.statistics(values);
    Facts counts = new Facts(sum.rows(), badLines.skipped() - skipped, sum.columns());
    return new TableStatistics(counts, statistics, boundaries, facts, values,
        TableStatistics.Basis.UNKNOWN);
  }

  /** Returns the first validation row and the first test row by position. */
  private Boundaries boundaries(List<Path> files, RowParts parts) {
    long rows = 0;
    try (Cursor<R> cursor = reader.rows().open(new FileQueue(files, 0), DataCursor.startOf(0))) {
      while (cursor.next() != null) {
        rows++;
      }
    }
    long validationFrom = parts.validationFrom(rows);
    long testFrom = parts.testFrom(rows);
    try (Cursor<R> cursor = reader.rows().open(new FileQueue(files, 0), DataCursor.startOf(0))) {
      Optional<Place> validation = Optional.empty();
      R row = cursor.next();
      for (long passed = 0; passed < testFrom && row != null; passed++) {
        validation = passed == validationFrom ? Optional.of(reader.rows().place(row)) : validation;
        row = cursor.next();
      }
      return new Boundaries(validation, row == null ? Optional.empty() : Optional.of(reader.rows().place(row)));
    }
  }

  private void submit(ExecutorService pool, List<R> chunk) {
    long number = chunks++;
    waiting.add(pool.submit(() -> summary(chunk, number)));
    mergeUntil(CHUNKS_PER_THREAD * threads);
  }

  private TableSummary summary(List<R> chunk, long number) {
    TableSummary summary = new TableSummary(plan, number);
    SlotBatch scratch = SlotBatch.allocate(reader.layout(), 1);
    InputRow[] block = new InputRow[BLOCK_ROWS];
    Arrays.setAll(block, i -> reader.newInput());
    float[] labels = new float[BLOCK_ROWS];
    int good = 0;
    for (R row : chunk) {
      if (reader.read(row, block[good], scratch, 0, badLines)) {
        labels[good++] = reader.hasBinaryLabel() ? scratch.labels()[0] : Float.NaN;
      }
      if (good == BLOCK_ROWS) {
        summary.add(block, labels, good);
        good = 0;
      }
    }
    summary.add(block, labels, good);
    return summary;
  }

  /** Merges the first chunks until at most this many wait. */
  private void mergeUntil(int left) {
    while (waiting.size() > left) {
      try {
        sum.merge(waiting.remove().get());
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Cancelled("the analysis was stopped");
      } catch (ExecutionException e) {
        if (e.getCause() instanceof Error error) {
          throw error;
        }
        throw (RuntimeException) e.getCause();
      }
    }
  }
}
