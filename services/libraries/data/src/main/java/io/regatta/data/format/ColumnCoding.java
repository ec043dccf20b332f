package io.regatta.data.format;

import io.regatta.core.reduce.DistinctIds;
import java.nio.charset.StandardCharsets;

/**
 * The coding of the values of named columns ({@link CsvSource}, {@link ParquetSource}) as dense features and ids.
 * Implementations are immutable; any thread may use them.
 */
public interface ColumnCoding {

  /**
   * The default coding: numbers unchanged; text, even if empty, as {@code xxh64(name=value, seed 0)}; no id for a
   * missing value.
   */
  ColumnCoding PLAIN = new ColumnCoding() {
    @Override
    public float dense(int feature, float value) {
      return value;
    }

    @Override
    public long id(String name, int slot, byte[] text) {
      return NamedValue.id(name, new String(text, StandardCharsets.UTF_8));
    }

    @Override
    public long absent(String name, int slot) {
      return DistinctIds.PADDING;
    }
  };

  /** Returns the feature of a number; a missing dense feature is 0. */
  float dense(int feature, float value);

  /**
   * Returns the id of text in an id column.
   *
   * @param slot number of the column among the id columns
   * @param text UTF-8
   */
  long id(String name, int slot, byte[] text);

  /**
   * Returns the id of a missing value (null in a Parquet file; in a CSV file text may be empty, but is never missing).
   */
  long absent(String name, int slot);
}
