package io.regatta.data.feature;

import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.InputRow;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The column of a binary label. Immutable.
 *
 * @param positive text of the positive class; empty: {@code 1} or {@code true}, and {@code 0} or {@code false} for the
 *     negative one
 * @param optional true if the label may be missing, which is NaN
 */
public record LabelColumn(String column, String positive, boolean optional) {

  private static final String BINARY = "label 0 or 1";

  /**
   * Returns the label of a row; NaN if it is missing or none.
   *
   * @param number of the label's column
   */
  public float value(InputRow row, int number) {
    float[] value = new float[1];
    return read(row, number, value, 0) == null ? value[0] : Float.NaN;
  }

  /**
   * Puts the label of a row into {@code labels[at]}.
   *
   * @param number of the label's column; -1 if there is none
   * @return null, or the reason why the row is bad
   */
  BadValue read(InputRow row, int number, float[] labels, int at) {
    InputRow.Type type = number < 0 ? InputRow.Type.MISSING : row.type(number);
    if (type == InputRow.Type.MISSING) {
      labels[at] = Float.NaN;
      return optional ? null : new BadValue(column, positive.isEmpty() ? BINARY : "a label", "");
    }
    float label = switch (type) {
      case TEXT -> positive.isEmpty() ? binary(row, number) : isPositive(row, number) ? 1 : 0;
      case WHOLE -> ofNumber(row.whole(number), Long.toString(row.whole(number)));
      case NUMBER -> ofNumber(row.number(number), Double.toString(row.number(number)));
      default -> Float.NaN;
    };
    labels[at] = label;
    return Float.isNaN(label) ? new BadValue(column, BINARY, found(row, number)) : null;
  }

  private float ofNumber(double value, String text) {
    if (positive.isEmpty()) {
      return value == 0 ? 0 : value == 1 ? 1 : Float.NaN;
    }
    return text.equals(positive) ? 1 : 0;
  }

  private boolean isPositive(InputRow row, int number) {
    byte[] text = positive.getBytes(StandardCharsets.UTF_8);
    return Arrays.equals(row.bytes(number), row.from(number), row.to(number), text, 0, text.length);
  }

  private static float binary(InputRow row, int number) {
    return switch (found(row, number)) {
      case "1", "1.0", "true" -> 1;
      case "0", "0.0", "false" -> 0;
      default -> Float.NaN;
    };
  }

  private static String found(InputRow row, int number) {
    return switch (row.type(number)) {
      case TEXT -> new String(row.bytes(number), row.from(number), row.to(number) - row.from(number), StandardCharsets.UTF_8);
      case WHOLE -> Long.toString(row.whole(number));
      case NUMBER -> Double.toString(row.number(number));
      case TEXTS -> "a list";
      case MISSING -> "";
    };
  }
}
