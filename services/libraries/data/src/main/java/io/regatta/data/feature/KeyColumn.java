package io.regatta.data.feature;

import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.InputRow;
import io.regatta.core.hash.XxHash64;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * A column whose text tells examples apart: the group of a ranking, the item of a retrieval, the value of a slice. It
 * becomes floats that hold whole numbers below 2^24, so it travels wherever labels do. A missing value is NaN.
 * Immutable.
 *
 * @param form of the floats
 * @param optional true if a file may lack the column
 */
public record KeyColumn(String column, Form form, boolean optional) implements RowLabels {

  /** The forms of a key. */
  public enum Form {
    /** A hash of 64 bits, in three floats. */
    HASH(3),
    /** The first 48 bytes of the text, in UTF-8, three in a float. */
    TEXT(16);

    private final int width;

    Form(int width) {
      this.width = width;
    }

    /** Returns the number of floats. */
    public int width() {
      return width;
    }
  }

  private static final int HASH_BITS = 22;
  private static final long HASH_MASK = (1L << HASH_BITS) - 1;
  private static final int BYTES = 3;

  /** Returns the hash in three floats; 0 if it is missing, which {@link #isMissing} tells. */
  public static long hash(float[] labels, int at) {
    return (long) labels[at] << 2 * HASH_BITS | (long) labels[at + 1] << HASH_BITS | (long) labels[at + 2];
  }

  /** Returns true if the value of a key was missing. */
  public static boolean isMissing(float[] labels, int at) {
    return Float.isNaN(labels[at]);
  }

  /** Returns the text in the floats of {@link Form#TEXT}; empty if it is missing. */
  public static String text(float[] labels, int at) {
    byte[] bytes = new byte[Form.TEXT.width * BYTES];
    int length = 0;
    for (int i = at; i < at + Form.TEXT.width && labels[i] > 0; i++) {
      int packed = (int) labels[i];
      for (int shift = (BYTES - 1) * Byte.SIZE; shift >= 0; shift -= Byte.SIZE) {
        if (packed >>> shift > 0) { // a text has no byte 0
          bytes[length++] = (byte) (packed >>> shift);
        }
      }
    }
    return new String(bytes, 0, length, StandardCharsets.UTF_8);
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
    return form.width;
  }

  @Override
  public KeyColumn toPredict() {
    return new KeyColumn(column, form, true);
  }

  @Override
  public BadValue read(InputRow row, int[] numbers, float[] labels, int at) {
    String text = numbers[0] < 0 ? "" : LabelColumn.found(row, numbers[0]);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length == 0) {
      labels[at] = Float.NaN;
      Arrays.fill(labels, at + 1, at + form.width, 0);
    } else if (form == Form.HASH) {
      long hash = XxHash64.of(bytes, 0, bytes.length, 0);
      labels[at] = hash >>> 2 * HASH_BITS;
      labels[at + 1] = hash >>> HASH_BITS & HASH_MASK;
      labels[at + 2] = hash & HASH_MASK;
    } else {
      pack(bytes, labels, at);
    }
    return null;
  }

  private void pack(byte[] bytes, float[] labels, int at) {
    for (int i = 0; i < form.width; i++) {
      int packed = 0;
      for (int b = i * BYTES; b < Math.min(bytes.length, (i + 1) * BYTES); b++) {
        packed = packed << Byte.SIZE | bytes[b] & 0xff;
      }
      labels[at + i] = packed;
    }
  }
}
