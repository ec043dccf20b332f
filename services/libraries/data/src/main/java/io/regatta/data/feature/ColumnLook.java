package io.regatta.data.feature;

import io.regatta.core.feature.InputRow;
import io.regatta.core.hash.Mix64;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.column.ColumnSummary;
import io.regatta.data.feature.TableStatistics.Facts;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A look at the columns of the first rows of files. Stateless; blocks. */
public final class ColumnLook {

  private ColumnLook() {}

  /**
   * Returns the facts of columns.
   *
   * @param columns the first ones of the format, in order
   * @param most rows that are read; rows that cannot be read are passed over
   */
  public static <R> Facts of(RowFormat<R> rows, List<String> columns, RowLabels labels, List<Path> files, int most) {
    BadLines badLines = new BadLines(BadLines.Policy.SKIP, false);
    List<ColumnSummary> summaries = columns.stream().map(column -> new ColumnSummary(Mix64.text(column))).toList();
    InputRow row = new InputRow(rows.columns().size());
    int[] labelColumns = labels.columns().stream().mapToInt(rows.columns()::indexOf).toArray();
    float[] label = new float[labels.width()];
    int good = 0;
    try (SlotSource.Cursor<R> cursor = rows.open(new FileQueue(files, 0), DataCursor.startOf(0))) {
      for (R next = cursor.next(); next != null && good < most; next = cursor.next()) {
        if (rows.read(next, row, badLines)) {
          good++;
          float known = labels.isBinary() && labels.read(row, labelColumns, label, 0) == null ? label[0] : Float.NaN;
          for (int column = 0; column < summaries.size(); column++) {
            summaries.get(column).add(row, column, known);
          }
        }
      }
    }
    Map<String, ColumnFacts> facts = new LinkedHashMap<>();
    for (int column = 0; column < summaries.size(); column++) {
      facts.put(columns.get(column), summaries.get(column).facts());
    }
    return new Facts(good, badLines.skipped(), facts);
  }
}
