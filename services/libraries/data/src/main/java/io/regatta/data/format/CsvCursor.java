package io.regatta.data.format;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.LikelyFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.Slots;
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

/**
 * The rows of CSV files, one file after another. One row is read ahead, for only then is it known where it begins:
 * plain files are read from there on when reading goes on, packed ones again up to it. One thread at a time, but for
 * {@link #bytesBehind}.
 */
final class CsvCursor implements SlotSource.Cursor<CsvSource.Row> {

  private static final int SHOWN_MAX = 400;
  private static final char BYTE_ORDER_MARK = '\uFEFF';

  private final FileQueue queue;
  private final Slots slots;
  private int number = -1;
  private Path file;
  private String name;
  private int[] columns;
  private CloseableIterator<CsvRecord> rows;
  private LineStarts lines;
  /** Of the file, before those that are read. */
  private long linesBefore;
  /** Null: the file has no more. */
  private CsvRecord next;
  private volatile CountedInput raw;
  /** Of files before the one that is open. */
  private volatile long bytesBefore;

  /** @param start where to begin, in the queue's first file; of no file: at its beginning */
  CsvCursor(FileQueue queue, Slots slots, DataCursor start) {
    this.queue = queue;
    this.slots = slots;
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
    CsvSource.Row row = new CsvSource.Row(name, line(), columns, next);
    advance();
    return row;
  }

  /** Of the row that is next. */
  private long line() {
    return linesBefore + next.getStartingLineNumber();
  }

  private void advance() {
    try {
      next = rows.hasNext() ? rows.next() : null;
      if (next != null) {
        lines.startOf(next.getStartingLineNumber()); // those before it are not asked for any more
      }
    } catch (CsvParseException e) { // whatever the policy: where the next row begins is not known
      throw new InvalidInput(name + ": " + e.getMessage() + (e.getCause() == null ? "" : ": " + e.getCause().getMessage())
          + (linesBefore == 0 ? "" : " (behind line " + linesBefore + ", where reading went on)")
          + "; mend the file there (is a quote not closed?)", e);
    } catch (UncheckedIOException e) {
      throw DataFiles.unreadable(file, e.getCause());
    }
  }

  private void seek(DataCursor start) {
    boolean known = start.offset() > 0; // else of a snapshot by a release that counted rows
    if (!openNext(start.offset(), start.records())) {
      return;
    }
    for (long passed = 0; next != null && (known ? line() <= start.records() : passed < start.records()); passed++) {
      advance();
    }
  }

  /**
   * Opens the next file, of which a row is next then if it has one.
   *
   * @param offset where to begin, if that is possible; 0: with the first row behind the header
   * @param linesThere before that place
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
        passByteOrderMark(text);
      }
      rows = CsvReader.builder().ofCsvRecord(text).iterator();
    } catch (IOException | RuntimeException | Error e) {
      unpacked.close();
      throw e;
    }
  }

  /** Which some programs begin UTF-8 with. */
  private static void passByteOrderMark(Reader text) throws IOException {
    text.mark(1);
    if (text.read() != BYTE_ORDER_MARK) {
      text.reset();
    }
  }

  private void header() {
    advance();
    if (next == null) {
      throw new InvalidInput(file.toAbsolutePath() + " is empty, expected a first row that names the columns");
    }
    List<String> names = next.getFields().stream().map(String::strip).toList();
    columns = new int[slots.size()];
    for (int i = 0; i < columns.length; i++) {
      columns[i] = names.indexOf(slots.get(i).name());
      if (columns[i] < 0) {
        String found = names.toString();
        String likely = LikelyFormat.of(String.join(",", next.getFields()));
        throw new InvalidInput(file.toAbsolutePath() + ", line 1: expected a column named " + slots.get(i).name() + ", found "
            + (found.length() > SHOWN_MAX ? found.substring(0, SHOWN_MAX) + "..." : found)
            + (likely.isEmpty() || likely.equals("csv") ? "" : ", which looks like " + likely) + ": see that data.format (csv) says how "
            + "the file is written, and that its first row names the columns");
      }
    }
  }

  /** The records are lines: those before the next row. */
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
