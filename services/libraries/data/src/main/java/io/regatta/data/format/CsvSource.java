package io.regatta.data.format;

import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.Slots.Kind;
import io.regatta.data.Slots.Slot;
import io.regatta.data.file.Ascii;
import io.regatta.data.file.FileQueue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * A source of CSV files (RFC 4180) whose first row names the columns. Each slot is the column of its name, one value
 * wide. A dense one is a number, 0 if empty; an id is text, also if empty; the label is a number. See {@link
 * ColumnCoding}. Other columns are ignored; the order of columns may differ between files. Files whose names end in
 * {@code .gz} are decompressed. Immutable; any thread may use it.
 */
public final class CsvSource extends ColumnSource<CsvSource.Row> {

  /**
   * A row with the column numbers of its file's header.
   *
   * @param fileNumber number of its file among those that are read, from 0
   * @param line of the file in which it begins, from 1
   * @param columns index of each wanted column; -1 if the file lacks it
   */
  public record Row(String file, int fileNumber, long line, int[] columns, CsvRecord record) {}

  /** Creates a source with {@link ColumnCoding#PLAIN}. */
  public CsvSource(Slots slots, List<Path> files, BadLines badLines) {
    this(slots, ColumnCoding.PLAIN, files, badLines);
  }

  /**
   * Creates a source.
   *
   * @param slots by column name, each of width 1
   * @param coding of the values
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
  public Cursor<Row> open(FileQueue queue, DataCursor place) {
    List<String> columns = IntStream.range(0, slots.size()).mapToObj(slots::get).map(Slot::name).toList();
    return new CsvCursor(queue, columns, Set.of(), CsvRows.Dialect.CSV, place);
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
    return badLines.report(row.file(), row.line(), "column " + (column + 1) + " (" + slot.name()
        + ")", problem);
  }
}
