package io.regatta.data.format;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The rows of CSV files (RFC 4180), or of files whose values are separated by tabs. All values are text. Files whose
 * names end in {@code .gz} are decompressed. Immutable; any thread.
 */
public final class CsvRows implements RowFormat<CsvSource.Row> {

  private static final int SHOWN_MAX = 400;

  private final List<String> columns;
  private final Set<String> optional;
  private final Dialect dialect;

  /**
   * Rules by which a line is cut into values.
   *
   * @param separator one character
   * @param quoted true if a value in double quotes may hold separators and line ends
   * @param given names of the columns; empty: the first row of each file names them
   */
  record Dialect(String name, String separator, boolean quoted, List<String> given) {

    static final Dialect CSV = new Dialect("csv", ",", true, List.of());

    Dialect {
      given = List.copyOf(given);
      Set<String> distinct = new LinkedHashSet<>();
      for (String column : given) {
        if (!distinct.add(column)) {
          throw new InvalidInput("data.columns names the column " + column + " twice: give each column a name of its own");
        }
      }
    }

    CsvReader.CsvReaderBuilder reader() {
      CsvReader.CsvReaderBuilder reader = CsvReader.builder().fieldSeparator(separator.charAt(0));
      return quoted ? reader : reader.quoteCharacter('\0'); // a character that text does not hold
    }
  }

  private CsvRows(Dialect dialect, Set<String> needed, Set<String> optional) {
    this.dialect = dialect;
    Set<String> all = new LinkedHashSet<>(needed);
    all.addAll(optional);
    columns = List.copyOf(all);
    Set<String> absent = new LinkedHashSet<>(optional);
    absent.removeAll(needed);
    this.optional = Set.copyOf(absent);
    List<String> lacking = new ArrayList<>(needed);
    lacking.removeAll(dialect.given());
    if (!dialect.given().isEmpty() && !lacking.isEmpty()) {
      throw new InvalidInput("data.columns names no column " + lacking.get(0) + ": name all columns of the files, in order");
    }
  }

  /**
   * Creates the format of comma-separated values.
   *
   * @param given names of all columns, if the files have no header; else empty
   * @param needed columns to read, in order
   * @param optional further columns to read, which a file may lack
   */
  public static CsvRows csv(List<String> given, Set<String> needed, Set<String> optional) {
    return new CsvRows(new Dialect("csv", ",", true, given), needed, optional);
  }

  /** Creates the format of tab-separated values without quotes; see {@link #csv}. */
  public static CsvRows tsv(List<String> given, Set<String> needed, Set<String> optional) {
    return new CsvRows(new Dialect("tsv", "\t", false, given), needed, optional);
  }

  /** Returns the names in a header. */
  static List<String> names(CsvRecord header) {
    return header.getFields().stream().map(String::strip).toList();
  }

  /** Returns the index of each wanted column; -1 if the names lack it. */
  static int[] places(List<String> wanted, List<String> names) {
    return wanted.stream().mapToInt(names::indexOf).toArray();
  }

  /** Returns the first column that must not lack and does; null if there is none. */
  static String lacking(List<String> wanted, int[] places, Set<String> optional) {
    for (int i = 0; i < places.length; i++) {
      if (places[i] < 0 && !optional.contains(wanted.get(i))) {
        return wanted.get(i);
      }
    }
    return null;
  }

  /** Returns the message about a column that a header lacks, without its place. */
  static String expected(String lacking, List<String> names) {
    String found = names.toString();
    return "expected a column named " + lacking + ", found " + (found.length() > SHOWN_MAX ? found.substring(0, SHOWN_MAX) + "..." : found);
  }

  /**
   * Calls {@code each} for the rows of a text in memory, in order. The first row names the columns, unless names of all
   * columns were given.
   *
   * @param name of the text in messages
   * @throws InvalidInput if the header lacks a column that must not lack, or a quote is not closed
   */
  public void read(String name, byte[] utf8, Consumer<CsvSource.Row> each) {
    int mark = utf8.length >= 3 && (utf8[0] & 0xff) == 0xef && (utf8[1] & 0xff) == 0xbb && (utf8[2] & 0xff) == 0xbf ? 3 : 0;
    int[] places = dialect.given().isEmpty() ? null : places(columns, dialect.given());
    try (CsvReader<CsvRecord> rows = dialect.reader().ofCsvRecord(new String(utf8, mark, utf8.length - mark, StandardCharsets.UTF_8))) {
      for (CsvRecord row : rows) {
        if (places == null) {
          places = places(columns, names(row));
          String lacking = lacking(columns, places, optional);
          if (lacking != null) {
            throw new InvalidInput(name + ", line 1: " + expected(lacking, names(row)) + "; name the columns in the first row");
          }
        } else {
          each.accept(new CsvSource.Row(name, 0, row.getStartingLineNumber(), places, row));
        }
      }
    } catch (CsvParseException e) {
      throw new InvalidInput(name + ": " + e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause().getMessage())
          + "; correct the text there (is a quote not closed?)", e);
    } catch (IOException e) { // of a text in memory
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public String name() {
    return dialect.name();
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public SlotSource.Cursor<CsvSource.Row> open(FileQueue queue, DataCursor place) {
    return new CsvCursor(queue, columns, optional, dialect, place);
  }

  @Override
  public boolean read(CsvSource.Row row, InputRow into, BadLines badLines) {
    int fields = row.record().getFieldCount();
    into.clear();
    for (int i = 0; i < columns.size(); i++) {
      int column = row.columns()[i];
      if (column >= fields) {
        return badLines.report(row.file(), row.line(), "column " + (column + 1) + " (" + columns.get(i) + ")",
            "the row ends after " + (fields == 1 ? "1 column" : fields + " columns"));
      }
      if (column >= 0) {
        byte[] text = row.record().getField(column).getBytes(StandardCharsets.UTF_8);
        into.text(i, text, 0, text.length);
      }
    }
    return true;
  }

  @Override
  public Place place(CsvSource.Row row) {
    return new Place(row.file(), row.fileNumber(), row.line());
  }
}
