package io.regatta.data.feature;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.core.hash.Mix64;
import io.regatta.core.hash.XxHash64;
import io.regatta.core.sketch.ValueCounts;
import io.regatta.core.sketch.ValueCounts.Counted;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.LikelyFormat;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.column.ColumnSummary;
import io.regatta.data.column.TextShape;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import io.regatta.data.format.CsvRows;
import io.regatta.data.format.ParquetTable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A look at the first rows of a file of a table: its format, its columns and their facts. Immutable; blocks on files when it is
 * made.
 *
 * @param format name, as {@link RowFormats#of} takes it
 * @param given names of the columns if the file does not name them; else empty
 * @param rows that were read
 * @param complete true if these are all rows of the file
 * @param badLines rows that could not be read
 */
public record TableLook(Path file, String format, List<String> given, Map<String, Column> columns, long rows, boolean complete,
    long badLines) {

  private static final JsonFactory JSON = new JsonFactory();
  private static final int VALUES_MAX = 1 << 12;
  private static final int NAMED_ROWS = 1000;

  /** The label of a row; NaN: it is not known. */
  private interface ToFloat {
    float of(InputRow row);
  }

  /**
   * A column.
   *
   * @param values with their counts, most frequent first; empty if there are too many
   */
  public record Column(ColumnFacts facts, TextShape shape, List<Counted> values) {}

  /**
   * Looks at a file.
   *
   * @param format empty: found by the file's name and its first line
   * @param rowsMax rows that are read at most
   * @throws InvalidInput if it cannot be read, or is no table
   */
  public static TableLook at(Path file, String format, int rowsMax) {
    DataFiles.readable(file);
    String found = format.isEmpty() ? format(file) : format;
    List<String> given = new ArrayList<>();
    List<String> names = names(file, found, given);
    if (names.isEmpty()) {
      throw new InvalidInput(DataFiles.fullName(file) + " has no columns: give a file with rows");
    }
    return look(file, found, given, names, rowsMax, row -> Float.NaN);
  }

  /**
   * Looks again, now with a label, so that facts say what each column alone tells about it.
   *
   * @param label a column of this look
   * @param positive its text that is 1
   */
  public TableLook withLabel(String label, String positive, int rowsMax) {
    List<String> names = List.copyOf(columns.keySet());
    LabelColumn column = new LabelColumn(label, positive, true);
    return look(file, format, given, names, rowsMax, row -> column.value(row, names.indexOf(label)));
  }

  private static TableLook look(Path file, String format, List<String> given, List<String> names, int rowsMax,
      ToFloat label) {
    return read(RowFormats.of(format, given, new LinkedHashSet<>(names), Set.of()), file, given, rowsMax, label);
  }

  private static <R> TableLook read(RowFormat<R> rows, Path file, List<String> given, int rowsMax, ToFloat label) {
    int width = rows.columns().size();
    List<ColumnSummary> summaries = new ArrayList<>();
    List<TextShape.Builder> shapes = new ArrayList<>();
    List<ValueCounts> values = new ArrayList<>();
    for (String name : rows.columns()) {
      summaries.add(new ColumnSummary(Mix64.text(name)));
      shapes.add(new TextShape.Builder());
      values.add(new ValueCounts(VALUES_MAX));
    }
    BadLines badLines = new BadLines(BadLines.Policy.SKIP, false);
    InputRow row = new InputRow(width);
    long good = 0;
    boolean complete;
    try (SlotSource.Cursor<R> cursor = rows.open(new FileQueue(List.of(file), 0), DataCursor.startOf(0))) {
      R next = cursor.next();
      for (; next != null && good < rowsMax; next = cursor.next()) {
        if (!rows.read(next, row, badLines)) {
          continue;
        }
        good++;
        float known = label.of(row);
        for (int column = 0; column < width; column++) {
          summaries.get(column).add(row, column, known);
          byte[] text = text(row, column);
          if (text != null) {
            shapes.get(column).add(text);
            values.get(column).add(text, 0, text.length, XxHash64.of(text, 0, text.length, 0));
          }
        }
      }
      complete = next == null;
    }
    if (good == 0) {
      throw new InvalidInput(DataFiles.fullName(file) + " has no row that can be read as " + rows.name()
          + "; name its format with --format");
    }
    Map<String, Column> columns = new LinkedHashMap<>();
    for (int column = 0; column < width; column++) {
      columns.put(rows.columns().get(column), new Column(summaries.get(column).facts(), shapes.get(column).build(),
          values.get(column).atLeast(1)));
    }
    return new TableLook(file, rows.name(), List.copyOf(given), columns, good, complete, badLines.skipped());
  }

  /** Returns the value of a column as text; null if it is missing or a list. */
  private static byte[] text(InputRow row, int column) {
    return switch (row.type(column)) {
      case TEXT -> Arrays.copyOfRange(row.bytes(column), row.from(column), row.to(column));
      case WHOLE -> Long.toString(row.whole(column)).getBytes(StandardCharsets.US_ASCII);
      case NUMBER -> Double.toString(row.number(column)).getBytes(StandardCharsets.US_ASCII);
      case MISSING, TEXTS -> null;
    };
  }

  private static String format(Path file) {
    String name = file.getFileName().toString().replaceFirst("\\.gz$", "");
    String ending = name.substring(name.lastIndexOf('.') + 1);
    return switch (ending) {
      case "csv", "tsv", "json", "parquet", "libsvm" -> ending;
      case "jsonl", "ndjson" -> "json";
      case "svm" -> "libsvm";
      default -> {
        Line first = firstLine(file);
        String text = first.text();
        String likely = text.startsWith("{") ? "json" : text.indexOf('\t') >= 0 ? "tsv" : LikelyFormat.of(text);
        if (!Set.of("csv", "tsv", "json", "parquet", "libsvm").contains(likely)) {
          throw new InvalidInput(DataFiles.fullName(file) + ": its format cannot be told" + (likely.isEmpty() ? "" : ", it looks like "
              + likely) + "; name it with --format csv, tsv, json, parquet or libsvm");
        }
        yield likely;
      }
    };
  }

  private static Line firstLine(Path file) {
    try (LineCursor lines = new LineCursor(List.of(file))) {
      Line first = lines.next();
      if (first == null) {
        throw new InvalidInput(DataFiles.fullName(file) + " is empty: give a file with rows");
      }
      return first;
    }
  }

  /**
   * Returns the names of the columns.
   *
   * @param given gets names that the file does not hold
   */
  private static List<String> names(Path file, String format, List<String> given) {
    return switch (format) {
      case "csv", "tsv" -> {
        List<String> first = CsvRows.firstRow(file, format.equals("csv"));
        List<String> named = first.stream().filter(each -> !each.isEmpty()).toList();
        if (first.size() - named.size() <= 1 && isHeader(named)) {
          yield named; // a column without a name, such as an index, is left out
        }
        for (int i = 1; i <= first.size(); i++) {
          given.add("c" + i);
        }
        yield given;
      }
      case "json" -> keys(file);
      case "parquet" -> ParquetTable.names(file);
      case "libsvm" -> List.of("label", "features");
      default -> throw new InvalidInput("--format " + format + ": init reads csv, tsv, json, parquet and libsvm");
    };
  }

  /** Returns true if a first row can be names: all different, none a number. */
  private static boolean isHeader(List<String> row) {
    return Set.copyOf(row.stream().filter(each -> !each.matches("[-+.\\d].*")).toList()).size() == row.size();
  }

  private static List<String> keys(Path file) {
    Set<String> keys = new LinkedHashSet<>();
    try (LineCursor lines = new LineCursor(List.of(file))) {
      Line line = lines.next();
      for (int n = 0; n < NAMED_ROWS && line != null; n++, line = lines.next()) {
        keys(line, keys);
      }
    }
    return List.copyOf(keys);
  }

  private static void keys(Line line, Set<String> keys) {
    try (JsonParser parser = JSON.createParser(line.bytes(), line.from(), line.to() - line.from())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String key = parser.currentName();
        if (parser.nextToken() != JsonToken.START_OBJECT) { // which no feature reads
          keys.add(key);
        }
        parser.skipChildren();
      }
    } catch (IOException e) {
      return; // a bad line, which is counted when rows are read
    }
  }
}
