package io.regatta.trainer.data;

import de.siegmar.fastcsv.reader.CloseableIterator;
import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.data.Slots.Kind;
import io.regatta.trainer.data.Slots.Slot;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * CSV files (RFC 4180) whose first row names the columns. Each slot is the column of its name, one value wide: a dense one a
 * number, 0 if empty; an id text, also if empty; the label a number; see {@link ColumnCoding}. Other columns are passed over; the order of columns may differ between files. Files whose names end in {@code .gz} are unpacked. Immutable, any
 * thread.
 */
public final class CsvSource extends ColumnSource<CsvSource.Row> {

  private static final char BYTE_ORDER_MARK = '\uFEFF';

  /** A row with what its file's header says. */
  public record Row(String file, int[] columns, CsvRecord record) {}

  /** With {@link ColumnCoding#PLAIN}. */
  public CsvSource(Slots slots, List<Path> files, BadLines badLines) {
    this(slots, ColumnCoding.PLAIN, files, badLines);
  }

  /**
   * @param slots by column name, each of width 1
   * @param coding what becomes of the values
   * @param files read in this order; must exist
   */
  public CsvSource(Slots slots, ColumnCoding coding, List<Path> files, BadLines badLines) {
    super(slots, coding, files, badLines, "a column of a CSV file");
  }

  @Override
  public String name() {
    return "csv";
  }

  @Override
  Cursor<Row> rows(FileQueue queue) {
    return new Rows(queue);
  }

  @Override
  public boolean parse(Row row, SlotBatch into, int at) {
    int highest = row.record().getFieldCount();
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      int column = row.columns()[i];
      if (column >= highest) {
        return bad(row, column, slot, "the row ends after " + highest + " columns");
      }
      String field = row.record().getField(column).strip();
      if (slot.kind() == Kind.IDS) {
        into.ids()[at * slots.layout().columns() + slot.offset()] = coding.id(slot.name(), slot.offset(),
            field.getBytes(StandardCharsets.UTF_8));
        continue;
      }
      byte[] digits = field.getBytes(StandardCharsets.UTF_8);
      boolean absent = digits.length == 0 && slot.kind() == Kind.DENSE;
      float value = absent ? 0f : Ascii.number(digits, 0, digits.length);
      if (Float.isNaN(value)) {
        return bad(row, column, slot, BadLines.expected("a number", field));
      }
      if (slot.kind() == Kind.LABEL) {
        if (!slots.takesLabel(value)) {
          return bad(row, column, slot, BadLines.expected(Slots.BINARY, field));
        }
        into.labels()[at] = value;
      } else {
        into.dense()[at * slots.layout().dense() + slot.offset()] = absent ? 0f : coding.dense(slot.offset(), value);
      }
    }
    return true;
  }

  private boolean bad(Row row, int column, Slot slot, String problem) {
    return badLines.report(row.file(), row.record().getStartingLineNumber(), "column " + (column + 1) + " (" + slot.name()
        + ")", problem);
  }

  /** Rows of one file after another; one thread at a time. */
  private final class Rows implements Cursor<Row> {

    private final FileQueue queue;
    private int number = -1;
    private Path file;
    private CloseableIterator<CsvRecord> rows;
    private int[] columns;
    private long read;
    private volatile CountedInput raw;
    /** Of files before the one that is open. */
    private volatile long bytesBefore;

    private Rows(FileQueue queue) {
      this.queue = queue;
    }

    @Override
    public Row next() {
      try {
        while (rows == null || !rows.hasNext()) {
          if (!openNext()) {
            return null;
          }
        }
        read++;
        return new Row(DataFiles.name(file), columns, rows.next());
      } catch (CsvParseException e) { // whatever the policy: where the next row begins is not known
        throw new InvalidInput(DataFiles.name(file) + ": " + e.getMessage()
            + (e.getCause() == null ? "" : ": " + e.getCause().getMessage()) + "; mend the file there (is a quote not closed?)", e);
      } catch (UncheckedIOException e) {
        throw DataFiles.unreadable(file, e.getCause());
      } catch (IOException e) {
        throw DataFiles.unreadable(file, e);
      }
    }

    private boolean openNext() throws IOException {
      close();
      int next = queue.take();
      if (next < 0) {
        return false;
      }
      number = next;
      file = queue.file(next);
      read = 0;
      rows = CsvReader.builder().ofCsvRecord(text(file)).iterator();
      if (!rows.hasNext()) {
        throw new InvalidInput(file.toAbsolutePath() + " is empty, expected a first row that names the columns");
      }
      columns = columns(rows.next());
      return true;
    }

    /** Without the byte order mark that some programs begin UTF-8 with. */
    private Reader text(Path file) throws IOException {
      raw = CountedInput.open(DataFiles.readable(file), 0);
      Reader text = new BufferedReader(new InputStreamReader(FileBytes.unpacked(file, raw), StandardCharsets.UTF_8));
      try {
        text.mark(1);
        if (text.read() != BYTE_ORDER_MARK) {
          text.reset();
        }
        return text;
      } catch (IOException | RuntimeException | Error e) {
        text.close();
        throw e;
      }
    }

    private int[] columns(CsvRecord header) {
      List<String> names = header.getFields().stream().map(String::strip).toList();
      int[] found = new int[slots.size()];
      for (int i = 0; i < found.length; i++) {
        found[i] = names.indexOf(slots.get(i).name());
        if (found[i] < 0) {
          throw new InvalidInput(file.toAbsolutePath() + ", line 1: expected a column named " + slots.get(i).name()
              + ", found " + names);
        }
      }
      return found;
    }

    @Override
    public DataCursor place() {
      return number < 0 ? null : new DataCursor(0, number, DataFiles.name(file), 0, read, 0, 0);
    }

    @Override
    public long bytesBehind() {
      CountedInput open = raw;
      return bytesBefore + (open == null ? 0 : open.offset());
    }

    @Override
    public void close() {
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
}
