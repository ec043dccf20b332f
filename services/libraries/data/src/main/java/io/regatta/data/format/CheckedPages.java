package io.regatta.data.format;

import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.bytes.BytesUtils;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.Encoding;
import org.apache.parquet.column.page.DataPage;
import org.apache.parquet.column.page.DataPageV1;
import org.apache.parquet.column.page.DataPageV2;
import org.apache.parquet.column.page.DictionaryPage;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.column.page.PageReader;
import org.apache.parquet.io.ParquetDecodingException;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;

/**
 * A page store of a row group that checks each page before it is decoded: Parquet's decoders allocate arrays for as
 * many values as a run or the head of a delta encoding declares. Used by one thread.
 */
final class CheckedPages implements PageReadStore {

  /** Values by which a run may be longer than its page: writers pad runs. */
  private static final int PADDING_VALUES = 512;
  private static final int GROUP = 8;
  private static final int MAX_BLOCK_VALUES = 1 << 16;
  private static final int MAX_BIT_WIDTH = 32;

  private final PageReadStore pages;

  CheckedPages(PageReadStore pages) {
    this.pages = pages;
  }

  @Override
  public long getRowCount() {
    return pages.getRowCount();
  }

  @Override
  public PageReader getPageReader(ColumnDescriptor column) {
    PageReader reader = pages.getPageReader(column);
    return new PageReader() {
      @Override
      public DictionaryPage readDictionaryPage() {
        return reader.readDictionaryPage();
      }

      @Override
      public long getTotalValueCount() {
        return reader.getTotalValueCount();
      }

      @Override
      public DataPage readPage() {
        DataPage page = reader.readPage();
        if (page != null) {
          String name = "a page of column " + String.join(".", column.getPath());
          try {
            check(page, column);
          } catch (BufferUnderflowException e) {
            throw new ParquetDecodingException(name + " declares more than it holds");
          } catch (IllegalArgumentException e) {
            throw new ParquetDecodingException(name + " is damaged: " + e.getMessage(), e);
          }
        }
        return page;
      }
    };
  }

  private static void check(DataPage page, ColumnDescriptor column) {
    page.accept(new DataPage.Visitor<Void>() {
      @Override
      public Void visit(DataPageV1 first) {
        ByteBuffer in = buffer(first.getBytes());
        checkLevels(in, first.getRlEncoding(), column.getMaxRepetitionLevel(), first.getValueCount());
        checkLevels(in, first.getDlEncoding(), column.getMaxDefinitionLevel(), first.getValueCount());
        checkValues(in, first.getValueEncoding(), column, first.getValueCount());
        return null;
      }

      @Override
      public Void visit(DataPageV2 second) {
        int values = second.getValueCount();
        checkRuns(buffer(second.getRepetitionLevels()), width(column.getMaxRepetitionLevel()), values);
        checkRuns(buffer(second.getDefinitionLevels()), width(column.getMaxDefinitionLevel()), values);
        checkValues(buffer(second.getData()), second.getDataEncoding(), column, values);
        return null;
      }
    });
  }

  private static ByteBuffer buffer(BytesInput bytes) {
    try {
      return bytes.toByteBuffer().duplicate().order(ByteOrder.LITTLE_ENDIAN);
    } catch (IOException e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    }
  }

  private static int width(int largest) {
    return BytesUtils.getWidthFromMaxInt(largest);
  }

  /**
   * Checks the levels in front of the values. Run-length encoded levels begin with their length; a column without
   * levels has none.
   */
  private static void checkLevels(ByteBuffer in, Encoding encoding, int largest, int values) {
    if (largest == 0) {
      return;
    }
    if (encoding != Encoding.RLE) { // bit-packed without runs: the decoder takes as many bytes as there are
      long bytes = ((long) values * width(largest) + GROUP - 1) / GROUP;
      in.position(in.position() + (int) Math.min(bytes, in.remaining()));
      return;
    }
    checkRuns(lengthPrefixed(in), width(largest), values);
  }

  private static ByteBuffer lengthPrefixed(ByteBuffer in) {
    int length = in.getInt();
    if (length < 0 || length > in.remaining()) {
      throw new BufferUnderflowException();
    }
    ByteBuffer runs = in.slice(in.position(), length);
    in.position(in.position() + length);
    return runs;
  }

  private static void checkValues(ByteBuffer in, Encoding encoding, ColumnDescriptor column, int values) {
    switch (encoding) {
      case PLAIN_DICTIONARY, RLE_DICTIONARY -> {
        if (in.hasRemaining()) {
          checkRuns(in, in.get() & 0xff, values);
        }
      }
      case RLE -> checkRuns(lengthPrefixed(in), 1, values); // of booleans
      case DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY -> checkDelta(in, values);
      case DELTA_BYTE_ARRAY -> { // lengths of prefixes, then of suffixes
        checkDelta(in, values);
        checkDelta(in, values);
      }
      case PLAIN -> {
        if (column.getPrimitiveType().getPrimitiveTypeName() == PrimitiveTypeName.BINARY) {
          for (int i = 0; i < values && in.hasRemaining(); i++) { // nulls have no length
            lengthPrefixed(in);
          }
        }
      }
      default -> { } // the decoder takes as many bytes as there are
    }
  }

  /** Checks runs of equal or packed values, up to the values of the page. */
  private static void checkRuns(ByteBuffer in, int width, int values) {
    if (width > MAX_BIT_WIDTH) {
      throw new IllegalArgumentException("its values have " + width + " bits");
    }
    long left = values;
    while (left > 0 && in.hasRemaining()) {
      int head = (int) unsigned(in);
      long run = head >>> 1;
      int bytes = (width + GROUP - 1) / GROUP;
      if ((head & 1) == 1) {
        bytes = (int) Math.min((long) in.remaining(), run * width);
        run *= GROUP;
        if (run > left + PADDING_VALUES || run > (long) (bytes + width) * GROUP && width > 0) {
          throw new BufferUnderflowException();
        }
      }
      in.position(in.position() + Math.min(bytes, in.remaining()));
      left -= run;
    }
  }

  /** Checks a delta encoding: values of a block, miniblocks of a block, values in all, then the blocks. */
  private static void checkDelta(ByteBuffer in, int values) {
    long block = unsigned(in);
    long parts = unsigned(in);
    long total = unsigned(in);
    if (block <= 0 || block > MAX_BLOCK_VALUES || parts <= 0 || parts > block || total < 0 || total > values) {
      throw new IllegalArgumentException("a delta encoding of " + total + " values in blocks of " + block + " with "
          + parts + " parts, for " + values + " rows");
    }
    long part = block / parts;
    if (part * parts != block || part % GROUP != 0) {
      throw new IllegalArgumentException("a delta encoding has " + parts + " parts in blocks of " + block);
    }
    unsigned(in); // the first value
    long read = 1;
    while (read < total) {
      unsigned(in); // the least difference
      int widths = in.position();
      skip(in, parts);
      for (int i = 0; i < parts && read < total; i++) {
        skip(in, (in.get(widths + i) & 0xff) * part / GROUP);
        read += part;
      }
    }
  }

  private static void skip(ByteBuffer in, long bytes) {
    if (bytes > in.remaining()) {
      throw new BufferUnderflowException();
    }
    in.position(in.position() + (int) bytes);
  }

  private static long unsigned(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; shift < Long.SIZE; shift += 7) {
      int next = in.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
    throw new IllegalArgumentException("a number has more than 64 bits");
  }
}
