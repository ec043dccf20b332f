package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData;

/**
 * The limits on the memory that a Parquet file may make this JVM allocate. Parquet's library allocates what a footer
 * and page headers declare before it checks that the file holds it. So they are read here first, without an allocation
 * of a declared size. Limits are fractions of the largest heap ({@code -Xmx}). Used by one thread.
 */
final class ParquetLimits implements Closeable {

  /**
   * Share of the heap for a footer, as a divisor: schema elements, row groups and statistics become objects of many
   * times their size.
   */
  private static final int FOOTERS_OF_A_HEAP = 64;
  /** Share of the heap, as a divisor, for a row group and the pages of all its columns that are decoded at a time. */
  private static final int ROW_GROUPS_OF_A_HEAP = 2;
  private static final long MAX_ROWS = 1L << 28;
  private static final int MAX_SCHEMA_DEPTH = 64;
  /**
   * Longest name of a writer: the library matches it with regular expressions whose time grows with the square of its
   * length.
   */
  private static final int MAX_WRITER_CHARS = 1000;
  private static final int TAIL_BYTES = 2 * Integer.BYTES;
  private static final int MAGIC = 0x31524150; // PAR1, little-endian
  private static final int FIRST_WINDOW = 1 << 10;
  /** Bytes of a dictionary value: an object, and its reference in an array. */
  private static final int DICTIONARY_VALUE_BYTES = 48;

  private final FileChannel file;
  private final String name;
  private final long size;
  private final long heap = Runtime.getRuntime().maxMemory();

  /** @param name of the file in messages */
  ParquetLimits(Path path, String name) throws IOException {
    this.file = FileChannel.open(path, StandardOpenOption.READ);
    this.name = name;
    this.size = file.size();
  }

  /**
   * Checks the footer: its length, the sizes that it declares, and the depth of its schema.
   *
   * @throws InvalidInput one line that says what is wrong with it
   */
  void checkFooter() throws IOException {
    if (size < Integer.BYTES + TAIL_BYTES) {
      throw refused("it has " + size + " bytes, too few for a Parquet file");
    }
    ByteBuffer tail = read(size - TAIL_BYTES, TAIL_BYTES);
    int length = tail.getInt();
    if (tail.getInt() != MAGIC) {
      throw refused("it does not end with PAR1, as Parquet files do");
    }
    if (length < 0 || length > size - TAIL_BYTES - Integer.BYTES) {
      throw refused("its footer declares " + Integer.toUnsignedString(length) + " bytes, but the file has " + size);
    }
    long most = heap / FOOTERS_OF_A_HEAP;
    if (length > most) {
      throw refused("its footer of " + length + " bytes is longer than a " + FOOTERS_OF_A_HEAP + "th of the heap, "
          + most + " bytes; give more heap (-Xmx), or write fewer columns and row groups into a file");
    }
    try {
      checkFooter(read(size - TAIL_BYTES - length, length));
    } catch (BufferUnderflowException e) {
      throw refused("its footer declares more than it holds");
    } catch (IllegalArgumentException e) {
      throw refused("its footer is damaged: " + e.getMessage());
    }
  }

  private void checkFooter(ByteBuffer footer) {
    CompactThrift thrift = new CompactThrift(footer);
    thrift.begin();
    while (thrift.next()) {
      if (thrift.id() == 2 && thrift.type() == CompactThrift.LIST) {
        checkSchema(thrift);
        continue;
      }
      int begin = footer.position();
      thrift.skip();
      if (thrift.id() == 6 && footer.position() - begin > MAX_WRITER_CHARS) {
        throw refused("the name of its writer (created_by) has more than " + MAX_WRITER_CHARS + " characters");
      }
    }
  }

  /** Checks the schema, whose elements are in the order of a walk that visits each group before its children. */
  private void checkSchema(CompactThrift thrift) {
    int field = thrift.id();
    int elements = thrift.list();
    if (elements > 0 && thrift.type() != CompactThrift.STRUCT) {
      throw refused("its schema is not a list of elements");
    }
    int[] missing = new int[MAX_SCHEMA_DEPTH + 1];
    int depth = 0;
    for (int i = 0; i < elements; i++) {
      int children = 0;
      thrift.begin();
      while (thrift.next()) {
        if (thrift.id() == 5) {
          long declared = thrift.integerField();
          if (declared < 0 || declared > elements - i - 1) {
            throw refused("a group of its schema declares " + declared + " columns");
          }
          children = (int) declared;
        } else {
          thrift.skip();
        }
      }
      while (depth > 0 && missing[depth] == 0) {
        depth--;
      }
      missing[depth]--;
      if (children > 0) {
        depth++;
        if (depth > MAX_SCHEMA_DEPTH) {
          throw refused("its columns are nested more than " + MAX_SCHEMA_DEPTH + " deep");
        }
        missing[depth] = children;
      }
    }
    thrift.resume(field);
  }

  /**
   * Checks the next row group: that its columns are within the file, and how much memory they and the pages decoded at
   * a time need.
   *
   * @param chunks its columns that are read
   * @throws InvalidInput one line that says what is wrong with it
   */
  void checkRowGroup(long rows, List<ColumnChunkMetaData> chunks) throws IOException {
    if (rows < 0 || rows > MAX_ROWS) {
      throw refused("a row group declares " + rows + " rows; at most " + MAX_ROWS + " are read");
    }
    long needed = 0;
    for (ColumnChunkMetaData chunk : chunks) {
      long from = chunk.getStartingPos();
      long bytes = chunk.getTotalSize();
      if (from < Integer.BYTES || bytes < 0 || bytes > size - from) {
        throw refused("column " + chunk.getPath().toDotString() + " declares " + bytes + " bytes from byte "
            + from + " on, but the file has " + size);
      }
      needed += bytes + largestPages(chunk, from, from + bytes);
      long most = heap / ROW_GROUPS_OF_A_HEAP;
      if (needed > most) {
        throw refused("a row group needs " + needed + " bytes for its columns and the pages decoded at a time, but half of "
            + "the heap is " + most + " bytes; give more heap (-Xmx), or write smaller row groups and pages");
      }
    }
  }

  /** Returns the bytes of the largest page of a column and of its dictionary. */
  private long largestPages(ColumnChunkMetaData chunk, long from, long end) throws IOException {
    String column = chunk.getPath().toDotString();
    if (chunk.getValueCount() < 0 || chunk.getValueCount() > MAX_ROWS * MAX_SCHEMA_DEPTH) {
      throw refused("column " + column + " declares " + chunk.getValueCount() + " values");
    }
    long values = 0;
    long largest = 0;
    long dictionary = 0;
    long at = from;
    while (values < chunk.getValueCount() && at < end) {
      Page page = page(column, at, end);
      if (page.packed() < 0 || page.packed() > end - page.body() || page.unpacked() < 0 || page.levels() < 0
          || page.levels() > page.packed() || page.values() < 0 || page.values() > chunk.getValueCount() - values
          && !page.isDictionary()) {
        throw refused("a page of column " + column + " declares " + page.values() + " values in "
            + page.packed() + " bytes, " + page.unpacked() + " decompressed");
      }
      if (page.isDictionary()) {
        if (page.values() > page.unpacked()) {
          throw refused("the dictionary of column " + column + " declares " + page.values() + " values in "
              + page.unpacked() + " bytes");
        }
        dictionary = page.unpacked() + (long) DICTIONARY_VALUE_BYTES * page.values();
      } else {
        values += page.values();
        largest = Math.max(largest, page.unpacked());
      }
      at = page.body() + page.packed();
    }
    if (values != chunk.getValueCount()) {
      throw refused("column " + column + " declares " + chunk.getValueCount() + " values, but its pages have "
          + values);
    }
    return largest + dictionary;
  }

  /** The header of a page, and the offset of its body. */
  private record Page(boolean isDictionary, long unpacked, long packed, long values, long levels, long body) {}

  private Page page(String column, long at, long end) throws IOException {
    int window = FIRST_WINDOW;
    while (true) {
      int bytes = (int) Math.min(window, end - at);
      ByteBuffer head = read(at, bytes);
      try {
        return page(head, at);
      } catch (BufferUnderflowException e) {
        if (bytes == end - at || window > heap / FOOTERS_OF_A_HEAP) {
          throw refused("the header of a page of column " + column + " declares more than it holds");
        }
        window *= 4;
      } catch (IllegalArgumentException e) {
        throw refused("the header of a page of column " + column + " is damaged: " + e.getMessage());
      }
    }
  }

  private static Page page(ByteBuffer head, long at) {
    CompactThrift thrift = new CompactThrift(head);
    boolean dictionary = false;
    long unpacked = 0;
    long packed = 0;
    long values = 0;
    long levels = 0;
    thrift.begin();
    while (thrift.next()) {
      int field = thrift.id();
      switch (field) {
        case 2 -> unpacked = thrift.integerField();
        case 3 -> packed = thrift.integerField();
        case 5, 7, 8 -> { // of a data page, a dictionary, and a data page of the second version
          dictionary = field == 7;
          if (thrift.type() != CompactThrift.STRUCT) {
            throw new BufferUnderflowException();
          }
          thrift.begin();
          while (thrift.next()) {
            if (thrift.id() == 1) {
              values = thrift.integerField();
            } else if (field == 8 && (thrift.id() == 5 || thrift.id() == 6)) {
              long length = thrift.integerField();
              levels = length < 0 ? -1 : levels + length;
            } else {
              thrift.skip();
            }
          }
          thrift.resume(field);
        }
        default -> thrift.skip();
      }
    }
    return new Page(dictionary, unpacked, packed, values, levels, at + head.position());
  }

  private ByteBuffer read(long at, int bytes) throws IOException {
    ByteBuffer out = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (out.hasRemaining()) {
      if (file.read(out, at + out.position()) < 0) {
        throw new EOFException(name + " ends at byte " + (at + out.position()));
      }
    }
    return out.flip();
  }

  private InvalidInput refused(String why) {
    return new InvalidInput(name + " cannot be read: " + why);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
