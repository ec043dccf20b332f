package io.regatta.data.feature;

import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.InputRow;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * The column of a label. Immutable.
 *
 * @param kind of its values
 * @param words {@link Kind#BINARY}: the text of the positive class, or empty: {@code 1} or {@code true}, and {@code 0} or
 *     {@code false} for the negative one. {@link Kind#CLASSES}: the texts of the classes, which are numbered from 0. Others:
 *     empty
 * @param optional true if the label may be missing, which is NaN
 */
public record LabelColumn(String column, Kind kind, List<String> words, boolean optional) implements RowLabels {

  /** The kinds of labels. */
  public enum Kind {
    /** 0 or 1. */
    BINARY("label 0 or 1"),
    /** One of several texts. */
    CLASSES("one of the label's classes"),
    /** A finite number. */
    NUMBER("a number"),
    /** A finite number that is not negative. */
    COUNT("a number that is not negative");

    private final String expected;

    Kind(String expected) {
      this.expected = expected;
    }
  }

  public LabelColumn {
    words = List.copyOf(words);
  }

  /**
   * Returns the label of a row; NaN if it is missing or none.
   *
   * @param number of the label's column
   */
  public float value(InputRow row, int number) {
    float[] value = new float[1];
    return read(row, new int[] {number}, value, 0) == null ? value[0] : Float.NaN;
  }

  /**
   * Creates the column of a binary label.
   *
   * @param positive text of the positive class; empty: 1 or true
   */
  public LabelColumn(String column, String positive, boolean optional) {
    this(column, Kind.BINARY, positive.isEmpty() ? List.of() : List.of(positive), optional);
  }

  @Override
  public List<String> columns() {
    return List.of(column);
  }

  @Override
  public Set<String> required() {
    return optional ? Set.of() : Set.of(column);
  }

  @Override
  public int width() {
    return 1;
  }

  @Override
  public boolean isBinary() {
    return kind == Kind.BINARY;
  }

  @Override
  public LabelColumn toPredict() {
    return new LabelColumn(column, kind, words, true);
  }

  @Override
  public BadValue read(InputRow row, int[] numbers, float[] labels, int at) {
    int number = numbers[0];
    InputRow.Type type = number < 0 ? InputRow.Type.MISSING : row.type(number);
    if (type == InputRow.Type.MISSING) {
      labels[at] = Float.NaN;
      return optional ? null : new BadValue(column, expected(), "");
    }
    labels[at] = switch (kind) {
      case BINARY -> words.isEmpty() ? binary(row, number) : is(words.get(0), row, number) ? 1 : 0;
      case CLASSES -> ofClass(row, number);
      case NUMBER, COUNT -> number(row, number);
    };
    return Float.isNaN(labels[at]) ? new BadValue(column, expected(), found(row, number)) : null;
  }

  private String expected() {
    return kind == Kind.BINARY && !words.isEmpty() ? "a label" : kind.expected;
  }

  private float ofClass(InputRow row, int number) {
    for (int i = 0; i < words.size(); i++) {
      if (is(words.get(i), row, number)) {
        return i;
      }
    }
    return Float.NaN;
  }

  private float number(InputRow row, int number) {
    double value = switch (row.type(number)) {
      case TEXT -> parsed(found(row, number));
      case WHOLE -> row.whole(number);
      case NUMBER -> row.number(number);
      default -> Double.NaN;
    };
    return Float.isFinite((float) value) && (kind == Kind.NUMBER || value >= 0) ? (float) value : Float.NaN;
  }

  private static double parsed(String text) {
    try {
      return Double.parseDouble(text);
    } catch (NumberFormatException e) {
      return Double.NaN;
    }
  }

  private static boolean is(String word, InputRow row, int number) {
    if (row.type(number) != InputRow.Type.TEXT) {
      return found(row, number).equals(word);
    }
    byte[] text = word.getBytes(StandardCharsets.UTF_8);
    return Arrays.equals(row.bytes(number), row.from(number), row.to(number), text, 0, text.length);
  }

  private static float binary(InputRow row, int number) {
    return switch (found(row, number)) {
      case "1", "1.0", "true" -> 1;
      case "0", "0.0", "false" -> 0;
      default -> Float.NaN;
    };
  }

  /** Returns the text of a value; empty if it is missing. */
  static String found(InputRow row, int number) {
    return switch (row.type(number)) {
      case TEXT -> new String(row.bytes(number), row.from(number), row.to(number) - row.from(number), StandardCharsets.UTF_8);
      case WHOLE -> Long.toString(row.whole(number));
      case NUMBER -> Double.toString(row.number(number));
      case TEXTS -> "a list";
      case MISSING -> "";
    };
  }
}
