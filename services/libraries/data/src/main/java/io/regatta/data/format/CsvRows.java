package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.Ascii;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.LineBlocks;
import io.regatta.data.file.PipeCommand;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The rows of CSV files (RFC 4180), or of files whose values are separated by tabs. All values are text, read where they
 * stand: only a value with doubled quotes is copied. Empty lines are skipped. Files whose names end in {@code .gz} are
 * decompressed. Immutable; any thread.
 */
public final class CsvRows implements RowFormat<CsvRows.Row> {

  static final byte QUOTE = '"';

  private static final int SHOWN_MAX = 400;

  private final List<String> columns;
  private final Set<String> optional;
  private final Dialect dialect;
  private final PipeCommand command;

  /**
   * A row not yet parsed.
   *
   * @param line without an open quote; it may hold line ends in quotes
   * @param fileNumber number of its file among those that are read, from 0
   */
  public record Row(Line line, int fileNumber, Columns columns) {}

  /** The columns of a file. Immutable. */
  static final class Columns {

    /** Index of each wanted column in the file; -1 if the file lacks it. */
    private final int[] places;
    /** Number of the wanted column at each place in the file; -1: none. */
    private final int[] wanted;

    private Columns(int[] places, int[] wanted) {
      this.places = places;
      this.wanted = wanted;
    }

    static Columns of(int[] places) {
      int[] wanted = new int[Arrays.stream(places).max().orElse(-1) + 1];
      Arrays.fill(wanted, -1);
      for (int i = 0; i < places.length; i++) {
        if (places[i] >= 0) {
          wanted[places[i]] = i;
        }
      }
      return new Columns(places, wanted);
    }

    int place(int column) {
      return places[column];
    }
  }

  /**
   * Rules by which a line is cut into values.
   *
   * @param separator one ASCII character
   * @param quoted true if a value in double quotes may hold separators and line ends
   * @param given names of the columns; empty: the first row of each file names them
   */
  record Dialect(String name, String separator, boolean quoted, List<String> given) {

    static final Dialect CSV = new Dialect("csv", ",", true, List.of());
    static final Dialect TSV = new Dialect("tsv", "\t", false, List.of());

    Dialect {
      given = List.copyOf(given);
      Set<String> distinct = new LinkedHashSet<>();
      for (String column : given) {
        if (!distinct.add(column)) {
          throw new InvalidInput("data.columns names the column " + column + " twice: give each column a name of its own");
        }
      }
    }

    Dialect with(List<String> columns) {
      return new Dialect(name, separator, quoted, columns);
    }

    byte separatorByte() {
      return (byte) separator.charAt(0);
    }

    /** Returns the index after the value that begins at {@code from}: a separator, or {@code to}. */
    int end(byte[] bytes, int from, int to) {
      return Ascii.find(separatorByte(), bytes, isQuoted(bytes, from, to) ? Math.min(to, closing(bytes, from, to) + 1) : from, to);
    }

    boolean isQuoted(byte[] bytes, int from, int to) {
      return quoted && from < to && bytes[from] == QUOTE;
    }

    /** Returns the index of the quote that closes the value in quotes; {@code to} if none does. */
    static int closing(byte[] bytes, int from, int to) {
      int at = Ascii.find(QUOTE, bytes, from + 1, to);
      while (at + 1 < to && bytes[at + 1] == QUOTE) {
        at = Ascii.find(QUOTE, bytes, at + 2, to);
      }
      return at;
    }

    /** Returns a copy of text in quotes in which doubled quotes are single ones. */
    static byte[] single(byte[] bytes, int from, int to) {
      byte[] text = new byte[to - from];
      int length = 0;
      for (int i = from; i < to; i++) {
        text[length++] = bytes[i];
        i += bytes[i] == QUOTE ? 1 : 0;
      }
      return Arrays.copyOf(text, length);
    }

    /** Returns the values of a line without blanks around them. */
    List<String> values(Line line) {
      List<String> values = new ArrayList<>();
      for (int from = line.from(); ; ) {
        int end = end(line.bytes(), from, line.to());
        boolean inQuotes = isQuoted(line.bytes(), from, line.to());
        byte[] text = inQuotes ? single(line.bytes(), from + 1, closing(line.bytes(), from, line.to()))
            : Arrays.copyOfRange(line.bytes(), from, end);
        values.add(new String(text, StandardCharsets.UTF_8).strip());
        if (end == line.to()) {
          return values;
        }
        from = end + 1;
      }
    }
  }

  CsvRows(Dialect dialect, Set<String> needed, Set<String> optional, PipeCommand command) {
    this.dialect = dialect;
    this.command = command;
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
   * @param command that files go through; null: none
   */
  public static CsvRows csv(List<String> given, Set<String> needed, Set<String> optional, PipeCommand command) {
    return new CsvRows(Dialect.CSV.with(given), needed, optional, command);
  }

  /** Creates the format of tab-separated values without quotes; see {@link #csv}. */
  public static CsvRows tsv(List<String> given, Set<String> needed, Set<String> optional, PipeCommand command) {
    return new CsvRows(Dialect.TSV.with(given), needed, optional, command);
  }

  /** Returns the values of the first row of a file, which may name its columns; empty if there is none. */
  public static List<String> firstRow(Path file, boolean quoted) {
    return CsvCursor.firstRow(file, quoted ? Dialect.CSV : Dialect.TSV);
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
  public void read(String name, byte[] utf8, Consumer<Row> each) {
    LineBlocks lines = new LineBlocks(name, new ByteArrayInputStream(utf8)::read, 0);
    long[] number = new long[1];
    UnaryOperator<Line> join = line -> {
      try {
        number[0]++;
        return lines.join() ? new Line(name, line.number(), lines.block(), lines.from(), lines.to()) : null;
      } catch (IOException e) { // of a text in memory
        throw new UncheckedIOException(e);
      }
    };
    try {
      Columns known = dialect.given().isEmpty() ? null : Columns.of(places(columns, dialect.given()));
      while (lines.next()) {
        number[0]++;
        if (lines.from() == lines.to()) {
          continue;
        }
        Line line = new Line(name, number[0], lines.block(), lines.from(), lines.to());
        Line whole = CsvCursor.whole(join, number[0] == 1 ? CsvCursor.withoutMark(line) : line, dialect);
        if (known != null) {
          each.accept(new Row(whole, 0, known));
          continue;
        }
        List<String> names = dialect.values(whole);
        int[] places = places(columns, names);
        String lacking = lacking(columns, places, optional);
        if (lacking != null) {
          throw new InvalidInput(name + ", line " + whole.number() + ": " + expected(lacking, names) + "; name the columns in the first row");
        }
        known = Columns.of(places);
      }
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
  public SlotSource.Cursor<Row> open(FileQueue queue, DataCursor place) {
    return new CsvCursor(queue, columns, optional, dialect, command, place);
  }

  @Override
  public boolean read(Row row, InputRow into, BadLines badLines) {
    Line line = row.line();
    byte[] bytes = line.bytes();
    int to = line.to();
    int[] wanted = row.columns().wanted;
    into.clear();
    int from = line.from();
    int values = 0;
    for (; values < wanted.length && from <= to; values++) {
      int column = wanted[values];
      int end;
      if (dialect.isQuoted(bytes, from, to)) {
        int closing = Dialect.closing(bytes, from, to);
        end = Ascii.find(dialect.separatorByte(), bytes, Math.min(to, closing + 1), to);
        if (end > closing + 1) {
          return badLines.report(line, "column " + (values + 1), BadLines.expected("a separator after the closing quote",
              line.text(closing + 1, end)));
        }
        if (column >= 0) {
          quoted(bytes, from + 1, closing, into, column);
        }
      } else {
        end = Ascii.find(dialect.separatorByte(), bytes, from, to);
        if (column >= 0) {
          into.text(column, bytes, from, end);
        }
      }
      from = end + 1;
    }
    return values == wanted.length || endsEarly(row, values, badLines);
  }

  private static void quoted(byte[] bytes, int from, int to, InputRow into, int column) {
    if (Ascii.find(QUOTE, bytes, from, to) == to) {
      into.text(column, bytes, from, to);
    } else {
      byte[] text = Dialect.single(bytes, from, to);
      into.text(column, text, 0, text.length);
    }
  }

  private boolean endsEarly(Row row, int values, BadLines badLines) {
    for (int i = 0; i < columns.size(); i++) {
      int place = row.columns().place(i);
      if (place >= values) {
        return badLines.report(row.line(), "column " + (place + 1) + " (" + columns.get(i) + ")", "the row ends after "
            + (values == 1 ? "1 column" : values + " columns"));
      }
    }
    return true;
  }

  @Override
  public Place place(Row row) {
    return new Place(row.line().file(), row.fileNumber(), row.line().number());
  }
}
