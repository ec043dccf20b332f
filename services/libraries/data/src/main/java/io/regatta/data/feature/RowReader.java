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
  private final LabelColumn label;
  private final int labelColumn;
  private final Layout layout;
  private final ThreadLocal<InputRow> inputs;

  RowReader(RowFormat<R> rows, FeatureTransform transform, LabelColumn label) {
    int read = transform.columns().size();
    if (rows.columns().size() < read || !rows.columns().subList(0, read).equals(transform.columns())) {
      throw new InvalidInput("the format " + rows.name() + " reads the columns " + rows.columns()
          + ", but the features need " + transform.columns() + " first, in this order");
    }
    this.rows = rows;
    this.transform = transform;
    this.label = label;
    labelColumn = rows.columns().indexOf(label.column());
    if (labelColumn < 0 && !label.optional()) {
      throw new InvalidInput("the format " + rows.name() + " does not read the column of the label, " + label.column());
    }
    layout = new Layout(transform.dense(), transform.widths(), transform.valued(), transform.emptyIds());
    inputs = ThreadLocal.withInitial(() -> new InputRow(rows.columns().size()));
  }

  Layout layout() {
    return layout;
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
    BadValue bad = label.read(input, labelColumn, into.labels(), at);
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
