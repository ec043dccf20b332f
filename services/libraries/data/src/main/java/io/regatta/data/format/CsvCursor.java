package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.LikelyFormat;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.SlotSource;
import io.regatta.data.file.Ascii;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.PipeCommand;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;

/**
 * A cursor over the rows of CSV files, one file after another. A row is a line, or several if line ends stand in quotes. One
 * thread at a time uses it, except for {@link #bytesBehind} and {@link #cancel}.
 */
final class CsvCursor implements SlotSource.Cursor<CsvRows.Row> {

  private static final byte[] BYTE_ORDER_MARK = {(byte) 0xEF, (byte) 0xBB, (byte) 0xBF};

  private final LineCursor lines;
  private final List<String> wanted;
  private final Set<String> optional;
  private final CsvRows.Dialect dialect;
  /** The file whose columns are known; -1: none. */
  private int number = -1;
  private CsvRows.Columns columns;

  /**
   * Creates a cursor.
   *
   * @param wanted names of columns
   * @param optional those of them that a file may lack
   * @param command that files go through; null: none
   * @param start where to begin, in the queue's first file; without a file: at its beginning
   */
  CsvCursor(FileQueue queue, List<String> wanted, Set<String> optional, CsvRows.Dialect dialect, PipeCommand command,
      DataCursor start) {
    this.wanted = wanted;
    this.optional = optional;
    this.dialect = dialect;
    boolean ofRows = start.file() >= 0 && start.offset() == 0; // from a snapshot of a release that counted rows
    lines = new LineCursor(queue, command, ofRows ? DataCursor.startOf(start.pass()) : start);
    if (ofRows) {
      SlotSource.passOver(this, start.records());
    } else if (start.file() >= 0) {
      SlotSource.moveOrClose(this, this::headerBefore);
    }
  }

  /** Reads the header of the file in which reading resumes. */
  private void headerBefore() {
    number = lines.fileNumber();
    if (number < 0) {
      return;
    }
    if (!dialect.given().isEmpty()) {
      columns = given();
      return;
    }
    columns = columns(firstRow(lines.file(), dialect), lines.file());
  }

  static List<String> firstRow(Path file, CsvRows.Dialect dialect) {
    try (LineCursor beginning = new LineCursor(List.of(file))) {
      Line first = beginning.next();
      return first == null ? List.of() : dialect.values(whole(beginning::join, withoutMark(first), dialect));
    }
  }

  @Override
  public CsvRows.Row next() {
    for (Line line = lines.next(); line != null; line = lines.next()) {
      if (lines.fileNumber() == number) {
        return new CsvRows.Row(whole(lines::join, line, dialect), number, columns);
      }
      number = lines.fileNumber();
      Line first = whole(lines::join, withoutMark(line), dialect);
      if (!dialect.given().isEmpty()) {
        columns = given();
        return new CsvRows.Row(first, number, columns);
      }
      columns = columns(dialect.values(first), lines.file());
    }
    return null;
  }

  private CsvRows.Columns given() {
    return CsvRows.Columns.of(wanted.stream().mapToInt(dialect.given()::indexOf).toArray());
  }

  /**
   * Returns the line, extended by those after it until no quote is open.
   *
   * @param join extends a line by the next one; null at the end of the file
   */
  static Line whole(UnaryOperator<Line> join, Line first, CsvRows.Dialect dialect) {
    if (!dialect.quoted() || Ascii.find(CsvRows.QUOTE, first.bytes(), first.from(), first.to()) == first.to()) {
      return first;
    }
    Line line = first;
    int at = 0; // scanned bytes of the line
    boolean begins = true; // a value begins there
    boolean open = false;
    while (true) {
      byte[] bytes = line.bytes();
      int to = line.to();
      for (int i = line.from() + at; ; ) {
        if (open) {
          i = Ascii.find(CsvRows.QUOTE, bytes, i, to);
          if (i == to) {
            break;
          }
          open = i + 1 < to && bytes[i + 1] == CsvRows.QUOTE;
          i += open ? 2 : 1;
        } else if (begins && i < to && bytes[i] == CsvRows.QUOTE) {
          open = true;
          begins = false;
          i++;
        } else {
          i = Ascii.find(dialect.separatorByte(), bytes, i, to);
          if (i == to) {
            return line;
          }
          begins = true;
          i++;
        }
      }
      at = to - line.from();
      Line longer = join.apply(line);
      if (longer == null) {
        throw new InvalidInput(line.file() + ", line " + line.number() + ": the quotes of a value are not closed before the end of the "
            + "file; correct the file there");
      }
      line = longer;
    }
  }

  static Line withoutMark(Line line) {
    for (int i = 0; i < BYTE_ORDER_MARK.length; i++) {
      if (line.from() + i >= line.to() || line.bytes()[line.from() + i] != BYTE_ORDER_MARK[i]) {
        return line;
      }
    }
    return new Line(line.file(), line.number(), line.bytes(), line.from() + BYTE_ORDER_MARK.length, line.to());
  }

  private CsvRows.Columns columns(List<String> names, Path file) {
    int[] places = CsvRows.places(wanted, names);
    String lacking = CsvRows.lacking(wanted, places, optional);
    if (lacking != null) {
      String likely = LikelyFormat.of(String.join(dialect.separator(), names));
      throw new InvalidInput(file.toAbsolutePath() + ", line 1: " + CsvRows.expected(lacking, names)
          + (likely.isEmpty() || likely.equals(dialect.name()) ? "" : ", which looks like " + likely)
          + ": check that data.format (" + dialect.name() + ") names the file's format, and that its first row names the columns");
    }
    return CsvRows.Columns.of(places);
  }

  /** Returns the position of the next row; its records are the lines before that row. */
  @Override
  public DataCursor place() {
    return lines.place();
  }

  @Override
  public long bytesBehind() {
    return lines.bytesBehind();
  }

  @Override
  public void cancel() {
    lines.cancel();
  }

  @Override
  public void close() {
    lines.close();
  }
}
