package io.regatta.data.format;

import io.regatta.core.feature.InputRow;
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
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * A source of CSV files (RFC 4180) whose first row names the columns. Each slot is the column of its name, one value
 * wide. A dense one is a number, 0 if empty; an id is text, also if empty; the label is a number. See {@link
 * ColumnCoding}. Other columns are ignored; the order of columns may differ between files. Files whose names end in
 * {@code .gz} are decompressed. Immutable; any thread may use it.
 */
public final class CsvSource extends ColumnSource<CsvRows.Row> {

  private static final byte[] EMPTY = new byte[0];

  private final CsvRows rows;
  private final ThreadLocal<InputRow> inputs = ThreadLocal.withInitial(() -> new InputRow(slots.size()));

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
    Set<String> columns = IntStream.range(0, slots.size()).mapToObj(slots::get).map(Slot::name)
        .collect(Collectors.toCollection(LinkedHashSet::new));
    rows = CsvRows.csv(List.of(), columns, Set.of(), null);
  }

  @Override
  public String name() {
    return "csv";
  }

  @Override
  public Cursor<CsvRows.Row> open(FileQueue queue, DataCursor place) {
    return rows.open(queue, place);
  }

  @Override
  public boolean parse(CsvRows.Row row, SlotBatch into, int at) {
    InputRow input = inputs.get();
    if (!rows.read(row, input, badLines)) {
      return false;
    }
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      boolean empty = input.type(i) == InputRow.Type.MISSING;
      byte[] bytes = empty ? EMPTY : input.bytes(i);
      int from = empty ? 0 : input.from(i);
      int to = empty ? 0 : input.to(i);
      if (slot.kind() == Kind.IDS) {
        into.ids()[at * slots.layout().columns() + slot.offset()] = coding.id(slot.name(), slot.offset(),
            Arrays.copyOfRange(bytes, from, to));
        continue;
      }
      boolean absent = empty && slot.kind() == Kind.DENSE;
      float value = absent ? 0f : Ascii.number(bytes, from, to);
      if (Float.isNaN(value)) {
        return bad(row, i, BadLines.expected("a number", text(bytes, from, to)));
      }
      if (slot.kind() == Kind.LABEL) {
        if (!slots.takesLabel(value)) {
          return bad(row, i, BadLines.expected(Slots.BINARY, text(bytes, from, to)));
        }
        into.labels()[at] = value;
      } else {
        into.dense()[at * slots.layout().dense() + slot.offset()] = absent ? 0f : coding.dense(slot.offset(), value);
      }
    }
    return true;
  }

  private static String text(byte[] bytes, int from, int to) {
    return new String(bytes, from, to - from, StandardCharsets.UTF_8);
  }

  private boolean bad(CsvRows.Row row, int slot, String problem) {
    return badLines.report(row.line(), "column " + (row.columns().place(slot) + 1) + " (" + slots.get(slot).name() + ")", problem);
  }
}
