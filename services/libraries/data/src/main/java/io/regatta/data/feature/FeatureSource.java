package io.regatta.data.feature;

import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.List;

/**
 * A source of examples of declared features. Rows of the other part of the split are passed over by their position, so
 * that batches are those of files without them. Immutable; any thread may use it.
 *
 * @param <R> a row of the format
 */
public final class FeatureSource<R> implements FileSource<R> {

  private final RowReader<R> reader;
  private final RowSplit split;
  private final List<Path> files;
  private final BadLines badLines;
  private final RowLabels labels;
  private final double negativeRate;
  private final long seed;

  /**
   * Creates a source.
   *
   * @param rows whose columns begin with those of the transformation
   * @param files read in this order; must exist
   */
  public FeatureSource(RowFormat<R> rows, FeatureTransform transform, RowLabels labels, RowSplit split, List<Path> files,
      BadLines badLines) {
    this(rows, transform, labels, split, files, badLines, 1, 0);
  }

  /**
   * Creates a source of some of the rows of label 0.
   *
   * @param negativeRate share of the rows whose first label is 0 that are read in each pass, from 0 to 1
   * @param seed of their choice
   */
  public FeatureSource(RowFormat<R> rows, FeatureTransform transform, RowLabels labels, RowSplit split, List<Path> files,
      BadLines badLines, double negativeRate, long seed) {
    this.labels = labels;
    this.negativeRate = negativeRate;
    this.seed = seed;
    this.reader = new RowReader<>(rows, transform, labels);
    this.split = split;
    this.files = files.stream().map(DataFiles::readable).toList();
    this.badLines = badLines;
  }

  @Override
  public String name() {
    return reader.rows().name();
  }

  @Override
  public Layout layout() {
    return reader.layout();
  }

  @Override
  public long size() {
    return -1;
  }

  @Override
  public List<Path> files() {
    return files;
  }

  @Override
  public Cursor<R> open(FileQueue queue, DataCursor place) {
    Cursor<R> all = reader.rows().open(queue, place);
    return split.isAll() && negativeRate == 1 ? all : new PartCursor<>(all, reader.rows(), split, negativeRate == 1 ? null
        : new NegativeSampling<>(reader.rows(), labels, negativeRate, seed, place.pass()));
  }

  @Override
  public boolean parse(R row, SlotBatch into, int at) {
    return reader.read(row, into, at, badLines);
  }

  /** Returns the columns of the row that the calling thread has parsed last; valid until its next one. */
  public InputRow columns() {
    return reader.input();
  }

  /**
   * A cursor over the rows of one part.
   *
   * @param sampling chooses some of them; null: all
   */
  private record PartCursor<R>(Cursor<R> all, RowFormat<R> rows, RowSplit split, NegativeSampling<R> sampling) implements Cursor<R> {

    @Override
    public R next() {
      R row = all.next();
      while (row != null && !(split.has(rows.place(row)) && (sampling == null || sampling.has(row)))) {
        row = all.next();
      }
      return row;
    }

    @Override
    public DataCursor place() {
      return all.place();
    }

    @Override
    public long bytesBehind() {
      return all.bytesBehind();
    }

    @Override
    public void cancel() {
      all.cancel();
    }

    @Override
    public void close() {
      all.close();
    }
  }
}
