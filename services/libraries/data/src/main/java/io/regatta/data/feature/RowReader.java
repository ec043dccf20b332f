package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotBatch;

/**
 * The way of a row into a batch: columns, label, features. Immutable; any thread.
 *
 * @param <R> a row of the format
 */
final class RowReader<R> {

  private final RowFormat<R> rows;
  private final FeatureTransform transform;
  private final RowLabels labels;
  /** Number of each column of the labels; -1: the format does not read it. */
  private final int[] labelColumns;
  private final Layout layout;
  private final ThreadLocal<InputRow> inputs;

  RowReader(RowFormat<R> rows, FeatureTransform transform, RowLabels labels) {
    int read = transform.columns().size();
    if (rows.columns().size() < read || !rows.columns().subList(0, read).equals(transform.columns())) {
      throw new InvalidInput("the format " + rows.name() + " reads the columns " + rows.columns()
          + ", but the features need " + transform.columns() + " first, in this order");
    }
    this.rows = rows;
    this.transform = transform;
    this.labels = labels;
    labelColumns = labels.columns().stream().mapToInt(rows.columns()::indexOf).toArray();
    for (int i = 0; i < labelColumns.length; i++) {
      if (labelColumns[i] < 0 && labels.required().contains(labels.columns().get(i))) {
        throw new InvalidInput("the format " + rows.name() + " does not read the column of the label, " + labels.columns().get(i));
      }
    }
    layout = new Layout(transform.dense(), transform.widths(), transform.valued(), transform.emptyIds(), labels.width());
    inputs = ThreadLocal.withInitial(() -> new InputRow(rows.columns().size()));
  }

  Layout layout() {
    return layout;
  }

  /** Returns true if the only label is 0 or 1. */
  boolean hasBinaryLabel() {
    return labels.isBinary();
  }

  /** Returns an empty row for {@link #read}. */
  InputRow newInput() {
    return new InputRow(rows.columns().size());
  }

  RowFormat<R> rows() {
    return rows;
  }

  /** Returns the columns of the row that this thread has read last. */
  InputRow input() {
    return inputs.get();
  }

  /** Returns false if the row is bad and skipped. */
  boolean read(R row, SlotBatch into, int at, BadLines badLines) {
    return read(row, inputs.get(), into, at, badLines);
  }

  /** Returns false if the row is bad and skipped; {@code input} gets its columns. */
  boolean read(R row, InputRow input, SlotBatch into, int at, BadLines badLines) {
    if (!rows.read(row, input, badLines)) {
      return false;
    }
    BadValue bad = labels.read(input, labelColumns, into.labels(), at * layout.labels());
    if (bad == null) {
      bad = transform.apply(input, into.dense(), at * layout.dense(), into.ids(), into.values(), at * layout.columns());
    }
    if (bad == null) {
      return true;
    }
    RowFormat.Place place = rows.place(row);
    return badLines.report(place.file(), place.line(), "column " + bad.column(), BadLines.expected(bad.expected(), bad.found()));
  }
}
