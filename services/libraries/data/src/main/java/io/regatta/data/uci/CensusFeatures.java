package io.regatta.data.uci;

import de.siegmar.fastcsv.reader.CsvRecord;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.format.NamedValue;
import java.util.Arrays;

/**
 * The conversion of a Census row to features. Numeric columns become dense features by fixed shifts and scales (about
 * mean 0 and deviation 1 on the training file; skewed amounts by their logarithm). Categorical columns and crosses
 * become 64-bit ids ({@link NamedValue}), which do not collide. Numbers enter crosses as buckets. Immutable; any thread
 * may use it.
 */
final class CensusFeatures {

  /** Numeric columns of the file, in the order of the dense features. */
  static final int[] NUMERIC = {0, 2, 4, 10, 11, 12};
  /** Categorical columns of the file, in the order of the first slots. */
  static final int[] CATEGORICAL = {1, 3, 5, 6, 7, 8, 9, 13};
  /** Pairs of columns that are crossed into one slot each; these slots follow the categorical ones. */
  static final int[][] CROSSES = {{3, 6}, {0, 3}, {5, 3}, {0, 12}, {10, 11}, {6, 12}, {0, 5}, {7, 9}};
  static final Layout LAYOUT = new Layout(NUMERIC.length, CATEGORICAL.length + CROSSES.length);

  private static final int[] AGE_BOUNDS = {18, 22, 25, 28, 31, 35, 40, 45, 50, 55, 60, 65, 75};
  private static final int[] GAIN_BOUNDS = {1, 2000, 3000, 4000, 4500, 5000, 6000, 7000, 8000, 15000};
  private static final int[] LOSS_BOUNDS = {1, 1500, 1700, 1820, 1900, 1980, 2100, 2300};
  private static final int[] HOURS_BOUNDS = {20, 30, 36, 40, 41, 46, 51, 61};

  void fill(CsvRecord record, SlotBatch into, int row) {
    int d = row * LAYOUT.dense();
    for (int column : NUMERIC) {
      into.dense()[d++] = scaled(column, number(record, column));
    }
    int s = row * LAYOUT.slots();
    for (int column : CATEGORICAL) {
      into.ids()[s++] = NamedValue.id(Census.COLUMNS.get(column), value(record, column));
    }
    for (int[] cross : CROSSES) {
      into.ids()[s++] = NamedValue.id(Census.COLUMNS.get(cross[0]) + "*" + Census.COLUMNS.get(cross[1]),
          value(record, cross[0]) + "*" + value(record, cross[1]));
    }
  }

  private static float scaled(int column, int value) {
    return (float) switch (column) {
      case 0 -> (value - 38.6) / 13.6;
      case 2 -> (Math.log(Math.max(1, value)) - 12.0) / 0.6;
      case 4 -> (value - 10.0) / 2.6;
      case 10, 11 -> Math.log1p(value) / 3.0;
      case 12 -> (value - 40.0) / 12.0;
      default -> throw new IllegalArgumentException("not numeric: " + Census.COLUMNS.get(column));
    };
  }

  /** Returns the text of a categorical column, or the bucket of a numeric one. */
  private static String value(CsvRecord record, int column) {
    int[] bounds = switch (column) {
      case 0 -> AGE_BOUNDS;
      case 10 -> GAIN_BOUNDS;
      case 11 -> LOSS_BOUNDS;
      case 12 -> HOURS_BOUNDS;
      default -> null;
    };
    return bounds == null ? record.getField(column).strip() : String.valueOf(bucket(number(record, column), bounds));
  }

  /** Returns the number of bounds that are at most {@code value}. */
  private static int bucket(int value, int[] bounds) {
    int at = Arrays.binarySearch(bounds, value);
    return at >= 0 ? at + 1 : -at - 1;
  }

  private static int number(CsvRecord record, int column) {
    return Integer.parseInt(record.getField(column).strip());
  }
}
