package io.regatta.data.format;

import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rows of Parquet files. A column is flat, or a list of single values, which is a list of texts. Numbers are as {@link
 * ParquetSource} has them; a boolean is the text {@code true} or {@code false}, a date is text in ISO 8601. Null is missing. A
 * column that the file does not have may come from a directory's name. Immutable; any thread.
 */
public final class ParquetTable implements RowFormat<ParquetSource.Row> {

  private final List<String> columns;
  private final Set<String> optional;
  private final Map<String, Integer> places = new HashMap<>();

  /**
   * Creates the format.
   *
   * @param needed columns to read, in order
   * @param optional further columns to read, which a file may lack
   * @throws io.regatta.core.error.RegattaException.InvalidInput if the library that reads Parquet is not on the class path
   */
  public ParquetTable(Set<String> needed, Set<String> optional) {
    ParquetSource.checkLibrary();
    Set<String> all = new LinkedHashSet<>(needed);
    all.addAll(optional);
    columns = List.copyOf(all);
    this.optional = Set.copyOf(optional);
    columns.forEach(column -> places.put(column, places.size()));
  }

  /** Returns the names of a file's columns. */
  public static List<String> names(Path file) {
    ParquetSource.checkLibrary();
    try {
      return ParquetRows.names(file, DataFiles.fullName(file));
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
  }

  @Override
  public String name() {
    return "parquet";
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public SlotSource.Cursor<ParquetSource.Row> open(FileQueue queue, DataCursor place) {
    return SlotSource.passOver(new ParquetCursor(queue, places, optional, true), place.records());
  }

  @Override
  public boolean read(ParquetSource.Row row, InputRow into, BadLines badLines) {
    for (int column = 0; column < columns.size(); column++) {
      Object value = row.values()[column];
      if (value == null) {
        into.number(column, Double.NaN);
      } else if (value instanceof Long whole) {
        into.whole(column, whole);
      } else if (value instanceof Number number) {
        into.number(column, number.doubleValue());
      } else if (value instanceof List<?> list) {
        into.texts(column, list.stream().map(ParquetTable::text).toList());
      } else {
        byte[] text = text(value);
        into.text(column, text, 0, text.length);
      }
    }
    return true;
  }

  private static byte[] text(Object value) {
    return value instanceof byte[] text ? text : value.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public Place place(ParquetSource.Row row) {
    return new Place(row.file(), row.fileNumber(), row.number());
  }
}
