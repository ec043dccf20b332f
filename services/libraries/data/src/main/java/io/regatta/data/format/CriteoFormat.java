package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.file.Ascii;
import java.util.stream.IntStream;

/**
 * The Criteo line format: tab-separated label, 13 integer features I1–I13 and 26 categorical features C1–C26; any
 * feature may be empty. Dense feature i is {@code (value − min[i]) / difference[i]}, 0 if empty, not limited to 1. The
 * id of categorical feature c is {@code xxh32(decimal column number + value, seed 0) % dimension}, with column numbers
 * 14 to 39; empty values are hashed too. Constants and hash are those of PaddlePaddle's CTR examples. Immutable; any
 * thread may use it.
 */
public final class CriteoFormat implements LineFormat {

  /** I1–I13 and C1–C26. */
  public static final Layout LAYOUT = new Layout(13, 26);

  private static final int COLUMNS = 40;
  private static final int FIRST_SPARSE = 14;
  private static final float[] DENSE_MIN = {0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  private static final float[] DENSE_DIFFERENCE = {20, 603, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};

  private final Remainder32 remainder;
  private final Layout layout;

  /** @param dimension ids are in [0, dimension); 1000001 in most examples */
  public CriteoFormat(long dimension) {
    if (dimension < 1) {
      throw new InvalidInput("the number of sparse ids must be positive, but is " + dimension);
    }
    this.remainder = new Remainder32(dimension);
    layout = LAYOUT.withEmptyIds(IntStream.range(0, LAYOUT.slots()).mapToObj(slot -> id(slot, new byte[0])).toList());
  }

  /**
   * Returns the columns by name, for files that name them: {@code label}, {@code I1} to {@code I13}, {@code C1} to
   * {@code C26}.
   */
  public static Slots columns() {
    Slots.Builder slots = Slots.builder().binaryLabel("label");
    for (int i = 1; i <= LAYOUT.dense(); i++) {
      slots.dense("I" + i, 1);
    }
    for (int i = 1; i <= LAYOUT.slots(); i++) {
      slots.id("C" + i);
    }
    return slots.build();
  }

  /**
   * Returns a coding of named columns that gives the same features and ids as {@link #parse}; whole numbers in a
   * Parquet file are ids unchanged.
   */
  public ColumnCoding coding() {
    return new ColumnCoding() {
      @Override
      public float dense(int feature, float value) {
        return normalised(feature, value);
      }

      @Override
      public long id(String name, int slot, byte[] text) {
        return CriteoFormat.this.id(slot, text);
      }

      @Override
      public long absent(String name, int slot) {
        return id(name, slot, new byte[0]);
      }
    };
  }

  private long id(int slot, byte[] text) {
    return remainder.of(XxHash32.ofNumbered(FIRST_SPARSE + slot, text, 0, text.length));
  }

  private static float normalised(int feature, float value) {
    return (value - DENSE_MIN[feature]) / DENSE_DIFFERENCE[feature];
  }

  @Override
  public String name() {
    return "criteo";
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    float[] dense = into.dense();
    long[] ids = into.ids();
    int firstDense = row * 13 - 1;
    int firstId = row * 26 - FIRST_SPARSE;
    int from = line.from();
    for (int column = 0; column < COLUMNS; column++) {
      int to = Ascii.find((byte) '\t', bytes, from, line.to());
      boolean last = to == line.to();
      if (last && column == 0) {
        return bad(line, column, COLUMNS + " tab-separated columns", from, to, badLines);
      }
      if (last != (column == COLUMNS - 1)) {
        return badLines.report(line, columnName(column),
            last ? "the line ends here, expected " + COLUMNS + " tab-separated columns"
                : "expected the line to end after " + COLUMNS + " tab-separated columns");
      }
      if (column >= FIRST_SPARSE) {
        ids[firstId + column] = remainder.of(XxHash32.ofNumbered(column, bytes, from, to - from));
      } else if (column > 0) {
        float value = from == to ? DENSE_MIN[column - 1] : Ascii.number(bytes, from, to);
        if (Float.isNaN(value)) {
          return bad(line, column, "a number or nothing", from, to, badLines);
        }
        dense[firstDense + column] = normalised(column - 1, value);
      } else {
        if (to - from != 1 || (bytes[from] != '0' && bytes[from] != '1')) {
          return bad(line, column, "label 0 or 1", from, to, badLines);
        }
        into.labels()[row] = bytes[from] - '0';
      }
      from = to + 1;
    }
    return true;
  }

  private static boolean bad(Line line, int column, String expected, int from, int to, BadLines badLines) {
    return badLines.report(line, columnName(column), BadLines.expected(expected, line.text(from, to)));
  }

  private static String columnName(int column) {
    String name = column == 0 ? "label" : column <= 13 ? "I" + column : "C" + (column - 13);
    return "column " + (column + 1) + " (" + name + ")";
  }
}
