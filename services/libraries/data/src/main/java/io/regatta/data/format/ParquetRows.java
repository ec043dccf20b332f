package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.DummyRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.FileMetaData;
import org.apache.parquet.io.InputFile;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.SeekableInputStream;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.Type;

/** A reader of the rows of one local Parquet file, restricted to some of its columns. Used by one thread at a time. */
final class ParquetRows implements Closeable {

  /** A column that is read, with its index in a row. */
  private record Column(int place, ColumnDescriptor descriptor) {

    boolean isList() {
      return descriptor.getMaxRepetitionLevel() > 0;
    }
  }

  private final ParquetLimits limits;
  private final ParquetFileReader file;
  private final MessageType schema;
  private final String createdBy;
  private final List<Column> columns = new ArrayList<>();
  private final boolean asRows;
  private final Object[] constants;
  private List<ColumnReader> group = List.of();
  private int rowGroup;
  private long left;

  /**
   * Opens a file.
   *
   * @param name of the file in messages
   * @param places index of each wanted column in a row, by column name
   * @param constant returns the value of a column that the file does not have; null if it has none
   * @param asRows true: a column may be a list, whose values are a {@code List}, text is UTF-8 in a {@code byte[]}, and a date
   *     is text in ISO 8601
   * @throws InvalidInput naming a column that is missing, or is a list
   */
  ParquetRows(Path path, String name, Map<String, Integer> places, Function<String, Constant> constant, boolean asRows)
      throws IOException {
    this.asRows = asRows;
    limits = new ParquetLimits(path, name);
    try {
      limits.checkFooter();
      file = open(path, name);
    } catch (IOException | RuntimeException e) {
      limits.close();
      throw e;
    }
    try {
      FileMetaData meta = file.getFooter().getFileMetaData();
      createdBy = meta.getCreatedBy();
      constants = new Object[places.size()];
      List<String> names = new ArrayList<>();
      for (ColumnDescriptor column : meta.getSchema().getColumns()) {
        boolean list = asRows && column.getMaxRepetitionLevel() == 1;
        String called = list ? column.getPath()[0] : String.join(".", column.getPath());
        if (list && names.contains(called) && places.containsKey(called)) {
          throw new InvalidInput(name + ": column " + called + " is a list of several values each, and only lists of single values are "
              + "read; write them as columns of their own");
        }
        names.add(called);
        Integer place = places.get(called);
        if (place == null) {
          continue;
        }
        if (column.getMaxRepetitionLevel() > 0 && !list) {
          throw new InvalidInput(name + ": column " + called + " is a list; a column must have one value in each row");
        }
        columns.add(new Column(place, column));
      }
      for (String wanted : places.keySet().stream().sorted().toList()) {
        if (!names.contains(wanted)) {
          Constant value = constant.apply(wanted);
          if (value == null) {
            throw new InvalidInput(name + ": expected a column named " + wanted + ", found " + names);
          }
          constants[places.get(wanted)] = value.value();
        }
      }
      Set<String> roots = Set.copyOf(columns.stream().map(column -> column.descriptor().getPath()[0]).toList());
      schema = new MessageType(meta.getSchema().getName(), meta.getSchema().getFields().stream()
          .filter(field -> roots.contains(field.getName())).toList());
      file.setRequestedSchema(schema);
    } catch (RuntimeException e) {
      close();
      throw e;
    }
  }

  private static ParquetFileReader open(Path path, String name) throws IOException {
    ParquetReadOptions plain = ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
    return ParquetFileReader.open(new Named(new LocalInputFile(path), name),
        ParquetReadOptions.builder(new PlainParquetConfiguration())
            .withCodecFactory(new ParquetCodecs(plain.getCodecFactory())).build());
  }

  /** A value that all rows of a file have; the value may be null. */
  record Constant(Object value) {}

  /** Returns the number of rows. */
  long size() {
    return file.getRecordCount();
  }

  /** Returns the next row's values by index; null at the end. */
  Object[] next() throws IOException {
    while (left == 0) {
      checkRowGroup();
      PageReadStore read = file.readNextRowGroup();
      if (read == null) {
        return null;
      }
      PageReadStore pages = new CheckedPages(read);
      ColumnReadStoreImpl store = new ColumnReadStoreImpl(pages, new DummyRecordConverter(schema).getRootConverter(), schema, createdBy);
      group = columns.stream().map(column -> store.getColumnReader(column.descriptor())).toList();
      left = pages.getRowCount();
    }
    left--;
    Object[] row = constants.clone();
    for (int i = 0; i < group.size(); i++) {
      Column column = columns.get(i);
      row[column.place()] = column.isList() ? list(group.get(i), column.descriptor()) : value(group.get(i), column.descriptor());
    }
    return row;
  }

  /** Returns the current value, or null, and moves to the next one. */
  private Object value(ColumnReader reader, ColumnDescriptor column) {
    boolean there = reader.getCurrentDefinitionLevel() == column.getMaxDefinitionLevel();
    Object value = !there ? null : asRows ? ParquetValue.ofRow(column.getPrimitiveType(), reader)
        : ParquetValue.of(column.getPrimitiveType(), reader);
    reader.consume();
    return value;
  }

  private List<Object> list(ColumnReader reader, ColumnDescriptor column) {
    List<Object> values = new ArrayList<>();
    do {
      Object value = value(reader, column);
      if (value != null) {
        values.add(value);
      }
    } while (reader.getCurrentRepetitionLevel() > 0);
    return values;
  }

  /** Returns the names of the columns of a file, lists included. */
  static List<String> names(Path path, String name) throws IOException {
    try (ParquetRows rows = new ParquetRows(path, name, Map.of(), column -> null, true)) {
      return rows.file.getFooter().getFileMetaData().getSchema().getFields().stream().map(Type::getName).toList();
    }
  }

  /** Checks the next row group that the library reads; it skips row groups without rows. */
  private void checkRowGroup() throws IOException {
    List<BlockMetaData> groups = file.getRowGroups();
    while (rowGroup < groups.size()) {
      BlockMetaData group = groups.get(rowGroup++);
      limits.checkRowGroup(group.getRowCount(), group.getColumns().stream()
          .filter(chunk -> schema.containsField(chunk.getPath().iterator().next())).toList());
      if (group.getRowCount() != 0) {
        return;
      }
    }
  }

  @Override
  public void close() throws IOException {
    try (limits) {
      file.close();
    }
  }

  /** A file with its name in the library's messages. */
  private record Named(InputFile file, String name) implements InputFile {

    @Override
    public long getLength() throws IOException {
      return file.getLength();
    }

    @Override
    public SeekableInputStream newStream() throws IOException {
      return file.newStream();
    }

    @Override
    public String toString() {
      return name;
    }
  }
}
