package io.regatta.data.uci;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.SlotBatch;
import io.regatta.data.TableSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The UCI (Boston) housing data: 13 features and the median value, separated by white space, with or without a header
 * line. Every feature is {@code (x − mean) / (max − min)} over the whole file. The first 80 % of the rows (404 of 506)
 * are for training, the rest for testing, as in PaddlePaddle's {@code uci_housing}. Immutable; any thread may use it.
 *
 * @param train first 80 % of the rows
 * @param test the others
 */
public record Housing(TableSource train, TableSource test) {

  /** Features of an example. */
  public static final int FEATURES = 13;

  private static final double TRAIN_RATIO = 0.8;
  private static final String[] COLUMNS = {"CRIM", "ZN", "INDUS", "CHAS", "NOX", "RM", "AGE", "DIS", "RAD", "TAX",
      "PTRATIO", "B", "LSTAT", "MEDV"};

  /** Reads the file; bad lines by policy. */
  public static Housing read(Path file, BadLines badLines) {
    List<double[]> rows = new ArrayList<>();
    long before = badLines.skipped();
    try (LineCursor lines = new LineCursor(List.of(file))) {
      for (Line line = lines.next(); line != null; line = lines.next()) {
        String text = line.text().strip();
        boolean header = line.number() == 1 && !text.isEmpty() && Character.isLetter(text.charAt(0));
        double[] row = header || text.isEmpty() ? null : parse(line, text.split("\\s+"), badLines);
        if (row != null) {
          rows.add(row);
        }
      }
    }
    badLines.logRead(file, before);
    if (rows.size() < 2) {
      throw new InvalidInput(file + " has " + (rows.size() == 1 ? "1 row" : "no rows") + " of data; at least 2 are "
          + "needed, one to train and one to test (the housing data have 506)");
    }
    TableSource all = new TableSource("housing", normalized(rows));
    int split = (int) (rows.size() * TRAIN_RATIO);
    return new Housing(all.slice("housing-train", 0, split), all.slice("housing-test", split, rows.size()));
  }

  private static double[] parse(Line line, String[] fields, BadLines badLines) {
    if (fields.length != COLUMNS.length) {
      badLines.report(line, "column " + (Math.min(fields.length, COLUMNS.length) + 1),
          "expected " + COLUMNS.length + " columns separated by white space, found " + fields.length);
      return null;
    }
    double[] row = new double[fields.length];
    for (int c = 0; c < row.length; c++) {
      try {
        row[c] = Double.parseDouble(fields[c]);
      } catch (NumberFormatException e) {
        row[c] = Double.NaN;
      }
      if (!Double.isFinite(row[c])) {
        badLines.report(line, "column " + (c + 1) + " (" + COLUMNS[c] + ")",
            BadLines.expected("a number", fields[c]));
        return null;
      }
    }
    return row;
  }

  private static SlotBatch normalized(List<double[]> rows) {
    SlotBatch table = SlotBatch.allocate(new Layout(FEATURES, 0), rows.size());
    for (int c = 0; c < FEATURES; c++) {
      int column = c;
      double[] values = rows.stream().mapToDouble(row -> row[column]).toArray();
      double mean = Arrays.stream(values).average().orElseThrow();
      double range = Arrays.stream(values).max().orElseThrow() - Arrays.stream(values).min().orElseThrow();
      for (int r = 0; r < values.length; r++) {
        table.dense()[r * FEATURES + c] = range == 0 ? 0f : (float) ((values[r] - mean) / range);
      }
    }
    for (int r = 0; r < rows.size(); r++) {
      table.labels()[r] = (float) rows.get(r)[FEATURES];
    }
    return table;
  }
}
