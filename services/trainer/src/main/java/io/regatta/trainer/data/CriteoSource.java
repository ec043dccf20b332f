package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import net.jpountz.xxhash.XXHash32;
import net.jpountz.xxhash.XXHashFactory;

/**
 * Files in the Criteo format: tab-separated label, 13 integer features I1–I13, 26 categorical features C1–C26, any
 * feature empty. Dense feature i is {@code (value − min[i]) / difference[i]}, 0 if empty, not limited to 1; the id of
 * categorical feature c is {@code xxh32(decimal column number + value, seed 0) % dimension}, column numbers 14 to 39,
 * empty values hashed too. Constants and hash are those of PaddlePaddle's CTR examples. Immutable, any thread.
 */
public final class CriteoSource implements SlotSource<Line> {

  /** I1–I13 and C1–C26. */
  public static final Layout LAYOUT = new Layout(13, 26);

  private static final int COLUMNS = 40;
  private static final float[] DENSE_MIN = {0, -3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  private static final float[] DENSE_DIFFERENCE = {20, 603, 100, 50, 64000, 500, 100, 50, 500, 10, 10, 10, 50};
  private static final byte[][] COLUMN_DIGITS = new byte[COLUMNS][];

  static {
    for (int column = 0; column < COLUMNS; column++) {
      COLUMN_DIGITS[column] = String.valueOf(column).getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** Files up to this many bytes in total are counted beforehand, so that progress can be shown. */
  private static final long COUNTED_BYTES_MAX = 1L << 30;

  private final List<Path> files;
  private final long dimension;
  private final BadLines badLines;
  private final long size;
  private final XXHash32 hash = XXHashFactory.safeInstance().hash32();

  /**
   * @param files read in this order; must exist
   * @param dimension ids are in [0, dimension); 1000001 in most examples
   * @param badLines what to do with lines that do not fit
   */
  public CriteoSource(List<Path> files, long dimension, BadLines badLines) {
    if (dimension < 1) {
      throw new InvalidInput("the number of sparse ids must be positive, but is " + dimension);
    }
    this.files = List.copyOf(files);
    this.dimension = dimension;
    this.badLines = badLines;
    long bytes = this.files.stream().map(DataFiles::readable).mapToLong(file -> file.toFile().length()).sum();
    this.size = bytes <= COUNTED_BYTES_MAX ? LineCursor.count(this.files) : -1;
  }

  @Override
  public String name() {
    return "criteo";
  }

  @Override
  public Layout layout() {
    return LAYOUT;
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  public Cursor<Line> open() {
    return new LineCursor(files);
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row) {
    byte[] bytes = line.bytes();
    byte[] key = new byte[64];
    int from = 0;
    for (int column = 0; column < COLUMNS; column++) {
      int to = from;
      while (to < bytes.length && bytes[to] != '\t') {
        to++;
      }
      boolean last = to == bytes.length;
      if (last != (column == COLUMNS - 1)) {
        return badLines.report(line.file(), line.number(), columnName(column),
            last ? "the line ends here, expected " + COLUMNS + " tab-separated columns"
                : "the line goes on, expected only " + COLUMNS + " tab-separated columns");
      }
      if (column == 0) {
        if (to - from != 1 || (bytes[from] != '0' && bytes[from] != '1')) {
          return bad(line, column, "label 0 or 1", from, to);
        }
        into.labels()[row] = bytes[from] - '0';
      } else if (column <= 13) {
        int feature = column - 1;
        float value = from == to ? DENSE_MIN[feature] : number(bytes, from, to);
        if (Float.isNaN(value)) {
          return bad(line, column, "a number or nothing", from, to);
        }
        into.dense()[row * 13 + feature] = from == to ? 0f : (value - DENSE_MIN[feature]) / DENSE_DIFFERENCE[feature];
      } else {
        int length = to - from + 2;
        if (length > key.length) {
          key = new byte[length];
        }
        System.arraycopy(COLUMN_DIGITS[column], 0, key, 0, 2);
        System.arraycopy(bytes, from, key, 2, to - from);
        into.ids()[row * 26 + column - 14] = Integer.toUnsignedLong(hash.hash(key, 0, length, 0)) % dimension;
      }
      from = to + 1;
    }
    return true;
  }

  private boolean bad(Line line, int column, String expected, int from, int to) {
    String found = new String(line.bytes(), from, to - from, StandardCharsets.UTF_8);
    return badLines.report(line.file(), line.number(), columnName(column), BadLines.expected(expected, found));
  }

  private static String columnName(int column) {
    String name = column == 0 ? "label" : column <= 13 ? "I" + column : "C" + (column - 13);
    return "column " + (column + 1) + " (" + name + ")";
  }

  /** Decimal number, NaN if it is none (or not finite). Whole numbers, the usual case, are read without a string. */
  private static float number(byte[] bytes, int from, int to) {
    boolean negative = bytes[from] == '-';
    int digits = negative ? from + 1 : from;
    boolean whole = digits < to && to - digits <= 9;
    int value = 0;
    for (int i = digits; whole && i < to; i++) {
      whole = bytes[i] >= '0' && bytes[i] <= '9';
      value = 10 * value + bytes[i] - '0';
    }
    if (whole) {
      return negative ? -value : value;
    }
    try {
      float parsed = Float.parseFloat(new String(bytes, from, to - from, StandardCharsets.US_ASCII));
      return Float.isInfinite(parsed) ? Float.NaN : parsed;
    } catch (NumberFormatException e) {
      return Float.NaN;
    }
  }
}
