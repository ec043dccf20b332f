package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.Slots;
import io.regatta.data.Slots.Kind;
import io.regatta.data.Slots.Slot;
import io.regatta.data.file.FileQueue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A source of Parquet files with flat columns. Each slot is the column of its name, one value wide. A dense one is any
 * number ({@link ParquetValue} converts types), 0 if null. An id is a whole number, unchanged, or text. The label is
 * any number or boolean. See {@link ColumnCoding}. A column that the file does not have may come from a directory's
 * name, as in {@code day=22/} ({@link Partitions}). Other columns are not read.
 *
 * <p>A file on another file system (S3) is copied to this machine while it is read, because columns are read in
 * parallel. Needs {@code blue.strategic.parquet:parquet-floor} (Apache Parquet without Hadoop) on the class path.
 * Immutable; any thread may use it.
 */
public final class ParquetSource extends ColumnSource<ParquetSource.Row> {

  /**
   * The values of a row by slot.
   *
   * @param fileNumber number of its file among those that are read, from 0
   * @param number of the row in its file, from 1
   */
  public record Row(String file, int fileNumber, long number, Object[] values) {}

  private static final String LIBRARY = "blue.strategic.parquet:parquet-floor";

  private final Map<String, Integer> slotOfColumn = new HashMap<>();

  /** Creates a source with {@link ColumnCoding#PLAIN}. */
  public ParquetSource(Slots slots, List<Path> files, BadLines badLines) {
    this(slots, ColumnCoding.PLAIN, files, badLines);
  }

  /**
   * Creates a source.
   *
   * @param slots by column name, each of width 1
   * @param coding of the values
   * @param files read in this order; must exist
   */
  public ParquetSource(Slots slots, ColumnCoding coding, List<Path> files, BadLines badLines) {
    super(slots, coding, files, badLines, "a flat column of a Parquet file");
    checkLibrary();
    for (int i = 0; i < slots.size(); i++) {
      slotOfColumn.put(slots.get(i).name(), i);
    }
  }

  /**
   * Checks, before anything starts, that Parquet files can be read.
   *
   * @throws InvalidInput naming the library that is not on the class path
   */
  public static void checkLibrary() {
    try {
      Class.forName("blue.strategic.parquet.ParquetReader");
    } catch (ClassNotFoundException e) {
      throw new InvalidInput("to read Parquet files, put " + LIBRARY + " on the class path", e);
    }
  }

  @Override
  public String name() {
    return "parquet";
  }

  /**
   * Opens a cursor. A row has no offset in its file, so to resume in the middle of one, the rows before are read again.
   */
  @Override
  public Cursor<Row> open(FileQueue queue, DataCursor place) {
    return SlotSource.passOver(new ParquetCursor(queue, slotOfColumn, Set.of(), false), place.records());
  }

  @Override
  public boolean parse(Row row, SlotBatch into, int at) {
    for (int i = 0; i < slots.size(); i++) {
      Slot slot = slots.get(i);
      Object value = row.values()[i];
      if (slot.kind() == Kind.IDS) {
        if (value instanceof Number && !(value instanceof Long)) {
          return bad(row, slot, "a whole number or text", value);
        }
        long id = id(slot, value);
        if (id == DistinctIds.PADDING && value instanceof Number) {
          return bad(row, slot, "a whole number other than -1, which means no id", value);
        }
        into.ids()[at * slots.layout().columns() + slot.offset()] = id;
        continue;
      }
      float number = number(value, slot.kind() == Kind.DENSE ? 0f : Float.NaN);
      if (!Float.isFinite(number)) {
        return bad(row, slot, "a number", value);
      }
      if (slot.kind() == Kind.LABEL) {
        if (!slots.takesLabel(number)) {
          return bad(row, slot, Slots.BINARY, value);
        }
        into.labels()[at] = number;
      } else {
        into.dense()[at * slots.layout().dense() + slot.offset()] = value == null ? 0f : coding.dense(slot.offset(), number);
      }
    }
    return true;
  }

  private long id(Slot slot, Object value) {
    if (value == null) {
      return coding.absent(slot.name(), slot.offset());
    }
    if (value instanceof Long id) {
      return id;
    }
    return coding.id(slot.name(), slot.offset(), value.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static float number(Object value, float ofNull) {
    if (value instanceof Boolean yes) {
      return yes ? 1f : 0f;
    }
    return value == null ? ofNull : value instanceof Number n ? n.floatValue() : Float.NaN;
  }

  private boolean bad(Row row, Slot slot, String expected, Object found) {
    return badLines.report(row.file(), row.number(), "column " + slot.name(),
        BadLines.expected(expected, String.valueOf(found)));
  }
}
