package io.regatta.data.uci;

import de.siegmar.fastcsv.reader.CommentStrategy;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.SlotBatch;
import io.regatta.data.TableSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileBytes;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The Census Income (Adult) data, {@code adult.data} and {@code adult.test}: six numeric columns as dense features; the
 * eight categorical columns and eight crosses ({@link CensusFeatures}) as sparse ids. The label is 1 for an income
 * above 50K. {@code ?} is a value like any other. Both files are held in memory. Immutable; any thread may use it.
 *
 * @param train rows of {@code adult.data}
 * @param test rows of {@code adult.test}, scaled like the training rows
 */
public record Census(TableSource train, TableSource test) {

  /** Names of the columns in the files. */
  static final List<String> COLUMNS = List.of("age", "workclass", "fnlwgt", "education", "education-num",
      "marital-status", "occupation", "relationship", "race", "sex", "capital-gain", "capital-loss", "hours-per-week",
      "native-country", "income");
  private static final int INCOME = COLUMNS.size() - 1;

  /** Reads both files; bad lines by policy. */
  public static Census read(Path trainFile, Path testFile, BadLines badLines) {
    return new Census(table("census-train", trainFile, badLines), table("census-test", testFile, badLines));
  }

  private static TableSource table(String name, Path file, BadLines badLines) {
    List<CsvRecord> rows = rows(file, badLines);
    SlotBatch table = SlotBatch.allocate(CensusFeatures.LAYOUT, rows.size());
    CensusFeatures features = new CensusFeatures();
    for (int r = 0; r < rows.size(); r++) {
      fill(features, rows.get(r), table, r);
    }
    return new TableSource(name, table);
  }

  static void fill(CensusFeatures features, CsvRecord row, SlotBatch table, int at) {
    features.fill(row, table, at);
    table.labels()[at] = income(row).startsWith(">") ? 1f : 0f;
  }

  /** Returns the reader of both files; {@code |} begins a comment line. */
  static CsvReader.CsvReaderBuilder csv() {
    return CsvReader.builder().commentStrategy(CommentStrategy.SKIP).commentCharacter('|');
  }

  /** Returns all good rows of a file. */
  static List<CsvRecord> rows(Path file, BadLines badLines) {
    List<CsvRecord> rows = new ArrayList<>();
    long before = badLines.skipped();
    try (CsvReader<CsvRecord> reader = csv().ofCsvRecord(
        new InputStreamReader(FileBytes.unpacked(DataFiles.readable(file)), StandardCharsets.UTF_8))) {
      for (CsvRecord row : reader) {
        if (good(file.toString(), row.getStartingLineNumber(), row, badLines)) {
          rows.add(row);
        }
      }
    } catch (CsvParseException e) {
      throw new InvalidInput(file + ": " + e.getMessage(), e);
    } catch (UncheckedIOException e) {
      throw DataFiles.unreadable(file, e.getCause());
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
    badLines.logRead(file, before);
    if (rows.isEmpty()) {
      throw new InvalidInput(file + " has no rows of data; download the file again");
    }
    return rows;
  }

  static boolean good(String file, long line, CsvRecord row, BadLines badLines) {
    if (row.getFieldCount() != COLUMNS.size()) {
      return badLines.report(file, line, "column " + (Math.min(row.getFieldCount(), COLUMNS.size()) + 1),
          "expected " + COLUMNS.size() + " columns separated by commas, found " + row.getFieldCount());
    }
    for (int column : CensusFeatures.NUMERIC) {
      String field = row.getField(column).strip();
      if (field.isEmpty() || field.length() > 9 || !field.chars().allMatch(c -> c >= '0' && c <= '9')) {
        return badLines.report(file, line, columnName(column), BadLines.expected("a whole number", field));
      }
    }
    String income = income(row);
    if (!income.equals(">50K") && !income.equals("<=50K")) {
      return badLines.report(file, line, columnName(INCOME), BadLines.expected(">50K or <=50K", income));
    }
    return true;
  }

  /** Returns the label's text, without the test file's trailing dot. */
  private static String income(CsvRecord row) {
    String text = row.getField(INCOME).strip();
    return text.endsWith(".") ? text.substring(0, text.length() - 1) : text;
  }

  private static String columnName(int column) {
    return "column " + (column + 1) + " (" + COLUMNS.get(column) + ")";
  }
}
