package io.regatta.data.format;

import io.regatta.core.reduce.DistinctIds;
import java.nio.charset.StandardCharsets;

/**
 * How the values of named columns ({@link CsvSource}, {@link ParquetSource}) become dense features and ids. Implementations are
 * immutable and used by any thread.
 */
public interface ColumnCoding {

  /** Numbers as they are; text as {@code xxh64(name=value, seed 0)}, an empty one too; no id where there is no value. */
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

  /** A number that is there; a dense feature that is not is 0. */
  float dense(int feature, float value);

  /**
   * Text in a column of ids.
   *
   * @param slot number of the column among those of ids
   * @param text UTF-8
   */
  long id(String name, int slot, byte[] text);

  /** An id that is not there (null in a Parquet file; in a CSV file text is empty, but there). */
  long absent(String name, int slot);
}
