package io.regatta.data.format;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.LikelyFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.CountedInput;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileBytes;
import io.regatta.data.file.FileQueue;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/**
 * A cursor over the rows of CSV files, one file after another. It reads one row ahead, because only then it is known
 * where that row begins. When reading resumes, uncompressed files are read from there on, compressed ones again from
 * the start. One thread at a time uses it, except for {@link #bytesBehind}.
 */
final class CsvCursor implements SlotSource.Cursor<CsvSource.Row> {

  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private final FileQueue queue;
  private final List<String> wanted;
  private final Set<String> optional;
  private final CsvRows.Dialect dialect;
  private int number = -1;
  private Path file;
  private String name;
  private int[] columns;
  private CloseableIterator<CsvRecord> rows;
  private LineStarts lines;
  /** Lines of the file before the position where reading began. */
  private long linesBefore;
  /** The row read ahead; null at the end of the file. */
  private CsvRecord next;
  private volatile CountedInput raw;
  /** Bytes of the files before the open one. */
  private volatile long bytesBefore;

  /**
   * Creates a cursor.
   *
   * @param wanted names of columns
   * @param optional those of them that a file may lack
   * @param start where to begin, in the queue's first file; without a file: at its beginning
   */
  CsvCursor(FileQueue queue, List<String> wanted, Set<String> optional, CsvRows.Dialect dialect, DataCursor start) {
    this.queue = queue;
    this.wanted = List.copyOf(wanted);
    this.optional = Set.copyOf(optional);
    this.dialect = dialect;
    if (start.file() >= 0) {
      SlotSource.moveOrClose(this, () -> seek(start));
    }
  }

  @Override
  public CsvSource.Row next() {
    while (next == null) {
      if (!openNext(0, 0)) {
        return null;
      }
    }
    CsvSource.Row row = new CsvSource.Row(name, number, line(), columns, next);
    advance();
    return row;
  }

  /** Returns the line of the next row. */
  private long line() {
    return linesBefore + next.getStartingLineNumber();
  }

  private void advance() {
    try {
      next = rows.hasNext() ? rows.next() : null;
      if (next != null) {
        lines.startOf(next.getStartingLineNumber()); // drops the starts of the lines before it
      }
    } catch (CsvParseException e) { // whatever the policy: the start of the next row is not known
      throw new InvalidInput(name + ": " + e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause().getMessage())
          + (linesBefore == 0 ? "" : " (counted after line " + linesBefore + ", where reading resumed)")
          + "; correct the file there (is a quote not closed?)", e);
    } catch (UncheckedIOException e) {
      throw DataFiles.unreadable(file, e.getCause());
    }
  }

  private void seek(DataCursor start) {
    boolean known = start.offset() > 0; // else from a snapshot of a release that counted rows
    if (!openNext(start.offset(), start.records())) {
      return;
    }
    for (long passed = 0; next != null && (known ? line() <= start.records() : passed < start.records()); passed++) {
      advance();
    }
  }

  /**
   * Opens the next file and reads its first row ahead.
   *
   * @param offset where to begin, if possible; 0: with the first row after the header
   * @param linesThere lines before that offset
   */
  private boolean openNext(long offset, long linesThere) {
    close();
    int taken = queue.take();
    if (taken < 0) {
      return false;
    }
    number = taken;
    file = DataFiles.readable(queue.file(taken));
    name = DataFiles.name(file);
    try {
      if (offset > 0 && FileBytes.isSeekable(file, null)) {
        open(0, 0);
        header();
        rows.close();
        open(offset, linesThere);
      } else {
        open(0, 0);
        header();
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
    advance();
    return true;
  }

  private void open(long offset, long linesThere) throws IOException {
    raw = CountedInput.open(file, offset);
    InputStream unpacked = FileBytes.unpacked(file, raw);
    lines = new LineStarts(unpacked, offset);
    linesBefore = linesThere;
    try {
      Reader text = new BufferedReader(new InputStreamReader(lines, StandardCharsets.UTF_8));
      if (offset == 0) {
        skipByteOrderMark(text);
      }
      rows = dialect.reader().ofCsvRecord(text).iterator();
    } catch (IOException | RuntimeException | Error e) {
      unpacked.close();
      throw e;
    }
  }

  /** Skips the byte order mark with which some programs begin UTF-8. */
  private static void skipByteOrderMark(Reader text) throws IOException {
    text.mark(1);
    if (text.read() != BYTE_ORDER_MARK) {
      text.reset();
    }
  }

  private void header() {
    if (!dialect.given().isEmpty()) {
      columns = wanted.stream().mapToInt(dialect.given()::indexOf).toArray();
      return;
    }
    advance();
    if (next == null) {
      throw new InvalidInput(file.toAbsolutePath() + " is empty, expected a first row that names the columns");
    }
    List<String> names = CsvRows.names(next);
    columns = CsvRows.places(wanted, names);
    String lacking = CsvRows.lacking(wanted, columns, optional);
    if (lacking != null) {
      String likely = LikelyFormat.of(String.join(dialect.separator(), next.getFields()));
      throw new InvalidInput(file.toAbsolutePath() + ", line 1: " + CsvRows.expected(lacking, names)
          + (likely.isEmpty() || likely.equals(dialect.name()) ? "" : ", which looks like " + likely)
          + ": check that data.format (" + dialect.name() + ") names the file's format, and that its first row names the columns");
    }
  }

  /** Returns the position of the next row; its records are the lines before that row. */
  @Override
  public DataCursor place() {
    if (number < 0) {
      return null;
    }
    boolean atEnd = next == null;
    return new DataCursor(0, number, name, atEnd ? lines.offset() : lines.startOf(next.getStartingLineNumber()),
        atEnd ? linesBefore + lines.lines() : line() - 1, 0, 0);
  }

  @Override
  public long bytesBehind() {
    CountedInput open = raw;
    return bytesBefore + (open == null ? 0 : open.offset());
  }

  @Override
  public void close() {
    next = null;
    if (raw != null) {
      bytesBefore += raw.offset();
      raw = null;
    }
    if (rows != null) {
      try {
        rows.close();
      } catch (IOException e) {
        throw DataFiles.unreadable(file, e);
      } finally {
        rows = null;
      }
    }
  }
}
