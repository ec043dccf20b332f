package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.BucketFeature;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.IdsFeature;
import io.regatta.core.feature.InputRow;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.SequenceFeature;
import io.regatta.core.feature.TimeFeature;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Layout;
import io.regatta.data.LineFormat;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.file.FileQueue;
import io.regatta.data.format.CsvRows;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The ways in which a request gives rows of named columns: JSON objects, a CSV text, or the values of each column. All of
 * them make the floats and ids of training. Labels may be missing. Immutable; any thread.
 */
public final class RequestRows {

  private static final String REQUEST = "request";

  /** The type of a column. */
  public enum Type {
    /** A number. */
    NUMBER,
    /** A text, or a number that is an identifier. */
    TEXT,
    /** Several texts. */
    TEXTS
  }

  /** A column that features read. */
  public record Column(String name, Type type) {}

  private final List<Column> columns;
  private final List<String> given;
  private final Set<String> needed;
  private final Set<String> optional;
  private final FeatureTransform transform;
  private final RowLabels labels;
  private final LineFormat objects;
  private final RowReader<SetRow> values;

  /**
   * Creates the ways.
   *
   * @param given names of all columns of a CSV text without a header, in order; empty: it has one
   */
  public RequestRows(List<Feature> features, FeatureTransform transform, RowLabels labels, List<String> given) {
    this.transform = transform;
    this.labels = labels.toPredict();
    this.given = List.copyOf(given);
    needed = new LinkedHashSet<>(transform.columns());
    optional = new LinkedHashSet<>(labels.columns());
    optional.removeAll(needed);
    columns = transform.columns().stream().map(name -> new Column(name, type(name, features))).toList();
    objects = new JsonLineFormat(transform, labels);
    values = new RowReader<>(new SetRows(transform.columns()), transform, this.labels);
  }

  /** Returns the type that all features which read the column accept; text if they differ. */
  private static Type type(String column, List<Feature> features) {
    Set<Type> types = new LinkedHashSet<>();
    features.stream().filter(feature -> feature.columns().contains(column))
        .forEach(feature -> types.add(type(feature)));
    return types.size() == 1 ? types.iterator().next() : Type.TEXT;
  }

  private static Type type(Feature feature) {
    boolean counted = feature instanceof TimeFeature time
        && (time.format() == TimeFeature.Format.EPOCH_S || time.format() == TimeFeature.Format.EPOCH_MS);
    if (counted || feature instanceof NumberFeature || feature instanceof BucketFeature) {
      return Type.NUMBER;
    }
    return feature instanceof IdsFeature || feature instanceof SequenceFeature ? Type.TEXTS : Type.TEXT;
  }

  /** Returns the columns that features read, in the order of an {@link InputRow}. */
  public List<Column> columns() {
    return columns;
  }

  public Layout layout() {
    return objects.layout();
  }

  /** Returns the format of a row as a JSON object. */
  public LineFormat objects() {
    return objects;
  }

  /**
   * Returns the reader of texts of comma-separated values.
   *
   * @param header false: the texts have no header, and the columns of the files that trained the model
   * @throws InvalidInput if there is no header, and the job that trained does not name the columns
   */
  public Table csv(boolean header) {
    return new Table(CsvRows.csv(names(header), needed, optional, null));
  }

  /** Returns the reader of texts of tab-separated values; see {@link #csv}. */
  public Table tsv(boolean header) {
    return new Table(CsvRows.tsv(names(header), needed, optional, null));
  }

  private List<String> names(boolean header) {
    if (!header && given.isEmpty()) {
      throw new InvalidInput("the model does not know the order of columns, because it was trained on files "
          + "with a header; name the columns in the first row of the text");
    }
    return header ? List.of() : given;
  }

  /** A reader of texts of one kind. Any thread. */
  public final class Table {

    private final CsvRows rows;
    private final RowReader<CsvRows.Row> reader;

    private Table(CsvRows rows) {
      this.rows = rows;
      reader = new RowReader<>(rows, transform, labels);
    }

    /**
     * Reads all rows of a text into {@code into}, from row {@code at} on.
     *
     * @return number of rows
     * @throws io.regatta.core.error.RegattaException.InvalidInput if a row is malformed, or a column lacks
     */
    public int read(byte[] utf8, SlotBatch into, int at) {
      BadLines refused = BadLines.refused();
      int[] rows = new int[1];
      this.rows.read(REQUEST, utf8, row -> reader.read(row, into, at + rows[0]++, refused));
      return rows[0];
    }
  }

  /**
   * Reads one row whose values the caller sets.
   *
   * @param fill sets values of a row of missing ones, by the indices of {@link #columns}
   * @param number of the row in messages, from 1
   * @throws io.regatta.core.error.RegattaException.InvalidInput if a value is malformed
   */
  public void read(Consumer<InputRow> fill, int number, SlotBatch into, int at) {
    values.read(new SetRow(fill, number), into, at, BadLines.refused());
  }

  private record SetRow(Consumer<InputRow> fill, int number) {}

  /** A format of rows that are set by the caller, in no file. */
  private record SetRows(List<String> columns) implements RowFormat<SetRow> {

    @Override
    public String name() {
      return "values";
    }

    @Override
    public SlotSource.Cursor<SetRow> open(FileQueue queue, DataCursor place) {
      throw new UnsupportedOperationException("values of columns are in no file");
    }

    @Override
    public boolean read(SetRow row, InputRow into, BadLines badLines) {
      into.clear();
      row.fill.accept(into);
      return true;
    }

    @Override
    public Place place(SetRow row) {
      return new Place(REQUEST, 0, row.number);
    }
  }
}
