package io.regatta.data.format;

import com.github.luben.zstd.Zstd;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotLoader;
import io.regatta.data.Slots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.ColumnMetaData;
import org.apache.parquet.format.CompressionCodec;
import org.apache.parquet.format.DataPageHeader;
import org.apache.parquet.format.DictionaryPageHeader;
import org.apache.parquet.format.Encoding;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.KeyValue;
import org.apache.parquet.format.PageHeader;
import org.apache.parquet.format.PageType;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;
import org.apache.parquet.format.Util;
import org.xerial.snappy.Snappy;

/**
 * Small Parquet files that ask for much: each says more of itself than it holds, or holds something that grows. Its
 * main reads them all, one after the other, in a JVM with a small heap, and prints what became of each.
 */
final class ParquetBombs {

  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final int MUCH = Integer.MAX_VALUE;
  /** More than half of the heap of the JVM that reads. */
  private static final int UNPACKED = 40 << 20;

  private ParquetBombs() {}

  /** One file: a column of ids in one row group of one page, which each bomb changes. */
  private static final class Sketch {
    private Type type = Type.INT64;
    private FieldRepetitionType repetition = FieldRepetitionType.REQUIRED;
    private CompressionCodec codec = CompressionCodec.UNCOMPRESSED;
    private Encoding encoding = Encoding.PLAIN;
    private int values = 1;
    private byte[] page = new byte[Long.BYTES];
    private Integer unpacked;
    private Integer packed;
    private byte[] dictionary;
    private int dictionaryValues = 1;
    private Consumer<ColumnMetaData> column = meta -> { };
    private Consumer<FileMetaData> file = meta -> { };

    private byte[] bytes() throws IOException {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.write(MAGIC);
      ColumnMetaData chunk = new ColumnMetaData(type, List.of(encoding), List.of("user"), codec, values, 0, 0,
          out.size());
      if (dictionary != null) {
        chunk.setDictionary_page_offset(out.size());
        PageHeader header = new PageHeader(PageType.DICTIONARY_PAGE, dictionary.length, dictionary.length);
        header.setDictionary_page_header(new DictionaryPageHeader(dictionaryValues, Encoding.PLAIN));
        Util.writePageHeader(header, out);
        out.write(dictionary);
        chunk.setData_page_offset(out.size());
      }
      PageHeader header = new PageHeader(PageType.DATA_PAGE, unpacked == null ? page.length : unpacked,
          packed == null ? page.length : packed);
      header.setData_page_header(new DataPageHeader(values, encoding, Encoding.RLE, Encoding.RLE));
      Util.writePageHeader(header, out);
      out.write(page);
      chunk.setTotal_compressed_size(out.size() - MAGIC.length).setTotal_uncompressed_size(out.size() - MAGIC.length);
      column.accept(chunk);
      ColumnChunk place = new ColumnChunk(MAGIC.length);
      place.setMeta_data(chunk);
      SchemaElement root = new SchemaElement("row");
      root.setNum_children(1);
      SchemaElement user = new SchemaElement("user");
      user.setType(type).setRepetition_type(repetition);
      FileMetaData meta = new FileMetaData(1, new ArrayList<>(List.of(root, user)), values,
          new ArrayList<>(List.of(new RowGroup(List.of(place), 100, values))));
      file.accept(meta);
      ByteArrayOutputStream footer = new ByteArrayOutputStream();
      Util.writeFileMetaData(meta, footer);
      return withFooter(out.toByteArray(), footer.toByteArray(), footer.size());
    }
  }

  private static byte[] withFooter(byte[] pages, byte[] footer, int says) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(pages);
    out.write(footer);
    out.write(word(says));
    out.write(MAGIC);
    return out.toByteArray();
  }

  private static byte[] of(Consumer<Sketch> change) throws IOException {
    Sketch sketch = new Sketch();
    change.accept(sketch);
    return sketch.bytes();
  }

  /** A varint of eight bits each, as thrift's compact protocol and Parquet's encodings have it. */
  private static byte[] varint(long value) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    long left = value;
    while ((left & ~0x7fL) != 0) {
      out.write((int) (left & 0x7f | 0x80));
      left >>>= 7;
    }
    out.write((int) left);
    return out.toByteArray();
  }

  private static byte[] word(int value) {
    return ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array();
  }

  private static byte[] join(byte[]... parts) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      out.writeBytes(part);
    }
    return out.toByteArray();
  }

  private static byte[] bytes(int... values) {
    byte[] out = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      out[i] = (byte) values[i];
    }
    return out;
  }

  private static byte[] gzip(int size) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream zip = new GZIPOutputStream(out)) {
      byte[] zeros = new byte[1 << 20];
      for (int left = size; left > 0; left -= zeros.length) {
        zip.write(zeros);
      }
    }
    return out.toByteArray();
  }

  /** Definition levels of a page of the first version: their length, then themselves. */
  private static byte[] levels(byte[] runs) {
    return join(word(runs.length), runs);
  }

  private static byte[] delta(long block, long miniBlocks, long values) {
    return join(varint(block), varint(miniBlocks), varint(values), new byte[64]);
  }

  private static Map<String, byte[]> all() throws IOException {
    Map<String, byte[]> all = new LinkedHashMap<>();
    for (CompressionCodec codec : List.of(CompressionCodec.UNCOMPRESSED, CompressionCodec.GZIP, CompressionCodec.SNAPPY,
        CompressionCodec.ZSTD, CompressionCodec.LZ4_RAW, CompressionCodec.LZ4, CompressionCodec.BROTLI)) {
      for (int size : new int[] {MUCH, -1}) {
        all.put(codec.name().toLowerCase() + " page of " + size, of(s -> {
          s.codec = codec;
          s.unpacked = size;
        }));
      }
    }
    byte[] gzip = gzip(UNPACKED);
    byte[] zstd = Zstd.compress(new byte[UNPACKED]);
    byte[] snappy = Snappy.compress(new byte[UNPACKED]);
    Map<CompressionCodec, byte[]> bombs = Map.of(CompressionCodec.GZIP, gzip, CompressionCodec.ZSTD, zstd,
        CompressionCodec.SNAPPY, snappy);
    bombs.forEach((codec, page) -> {
      try {
        all.put(codec.name().toLowerCase() + " bomb", of(s -> {
          s.codec = codec;
          s.unpacked = UNPACKED;
          s.values = UNPACKED / Long.BYTES;
          s.page = page;
        }));
        all.put(codec.name().toLowerCase() + " bomb that says 8 bytes", of(s -> {
          s.codec = codec;
          s.unpacked = Long.BYTES;
          s.page = page;
          s.values = 2; // so that its second value shows whether the page has ended
        }));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
    for (int size : new int[] {MUCH, -1, -8}) {
      all.put("packed page of " + size, of(s -> s.packed = size));
      all.put("values of a page " + size, of(s -> {
        s.values = size;
        s.column = meta -> meta.setNum_values(1);
        s.file = meta -> meta.getRow_groups().get(0).setNum_rows(1);
      }));
    }
    for (long size : new long[] {Long.MAX_VALUE, 1L << 40, MUCH, 1000, -1, -MUCH}) {
      all.put("chunk of " + size, of(s -> s.column = meta -> meta.setTotal_compressed_size(size)));
      all.put("chunk at " + size, of(s -> s.column = meta -> meta.setData_page_offset(size)));
      all.put("rows " + size, of(s -> s.file = meta -> meta.getRow_groups().get(0).setNum_rows(size)));
      all.put("values of a chunk " + size, of(s -> s.column = meta -> meta.setNum_values(size)));
    }
    for (int size : new int[] {MUCH, 1000, -1}) {
      all.put("dictionary of " + size, of(s -> {
        s.dictionary = new byte[Long.BYTES];
        s.dictionaryValues = size;
        s.encoding = Encoding.RLE_DICTIONARY;
        s.page = bytes(1, 2, 0);
      }));
      all.put("dictionary of texts " + size, of(s -> {
        s.type = Type.BYTE_ARRAY;
        s.dictionary = new byte[Long.BYTES];
        s.dictionaryValues = size;
        s.encoding = Encoding.RLE_DICTIONARY;
        s.page = bytes(1, 2, 0);
      }));
    }
    for (Type type : List.of(Type.INT64, Type.BYTE_ARRAY)) {
      Consumer<Sketch> dictionary = s -> {
        s.type = type;
        s.dictionary = type == Type.INT64 ? new byte[Long.BYTES] : new byte[Integer.BYTES];
        s.encoding = Encoding.RLE_DICTIONARY;
      };
      for (int width : new int[] {0, 1, 32, 255}) {
        all.put("packed run of 2^31 values, width " + width + ", " + type, of(s -> {
          dictionary.accept(s);
          s.page = join(bytes(width), varint((1L << 29) - 1), new byte[8]);
        }));
      }
      all.put("run of 2^31 equal values, " + type, of(s -> {
        dictionary.accept(s);
        s.page = join(bytes(1), varint(0xfffffffeL), new byte[8]);
        s.values = MUCH;
      }));
    }
    all.put("levels in a packed run of 2^31", of(s -> {
      s.repetition = FieldRepetitionType.OPTIONAL;
      s.page = join(levels(join(varint((1L << 29) - 1), new byte[8])), new byte[Long.BYTES]);
    }));
    all.put("levels of 2^31 bytes", of(s -> {
      s.repetition = FieldRepetitionType.OPTIONAL;
      s.page = bytes(255, 255, 255, 127, 2, 1);
    }));
    for (Encoding encoding : List.of(Encoding.DELTA_BINARY_PACKED, Encoding.DELTA_LENGTH_BYTE_ARRAY,
        Encoding.DELTA_BYTE_ARRAY)) {
      for (byte[] head : List.of(delta(128, 4, MUCH), delta(MUCH - 127, 1, 8), delta(128, MUCH, 8), delta(0, 0, 8),
          delta(8, 0, MUCH), delta(0, 4, 8))) {
        all.put(encoding + " " + hex(head), of(s -> {
          s.type = encoding == Encoding.DELTA_BINARY_PACKED ? Type.INT64 : Type.BYTE_ARRAY;
          s.encoding = encoding;
          s.page = head;
        }));
      }
    }
    for (int size : new int[] {MUCH, 1 << 30, -1}) {
      all.put("text of " + size, of(s -> {
        s.type = Type.BYTE_ARRAY;
        s.page = join(word(size), new byte[8]);
      }));
      all.put("fixed text of " + size, of(s -> {
        s.type = Type.FIXED_LEN_BYTE_ARRAY;
        s.file = meta -> meta.getSchema().get(1).setType_length(size);
      }));
      all.put("footer of " + size, withFooter(MAGIC, new byte[20], size));
      all.put("children " + size, of(s -> s.file = meta -> meta.getSchema().get(0).setNum_children(size)));
    }
    byte[] version = bytes(0x15, 2);
    all.put("schema of 2^31 elements", withFooter(MAGIC, join(version, bytes(0x19, 0xfc), varint(MUCH)), 9));
    byte[] schema = join(version, bytes(0x19, 0x1c, 0x48), varint(MUCH)); // one element, whose field 4 is its name
    all.put("name of 2^31 bytes", withFooter(MAGIC, schema, schema.length));
    byte[] groups = join(version, bytes(0x39, 0xfc), varint(MUCH)); // field 4: row groups
    all.put("2^31 row groups", withFooter(MAGIC, groups, groups.length));
    byte[] unknown = join(version, bytes(0xd9), bytes(0xf9), varint(MUCH), new byte[100]);
    all.put("unknown field of 2^31 lists", withFooter(MAGIC, unknown, unknown.length));
    byte[] map = join(version, bytes(0xdb), varint(MUCH), bytes(0x11), new byte[100]);
    all.put("unknown field of a map of 2^31", withFooter(MAGIC, map, map.length));
    byte[] deep = join(version, bytes(0xdc), nested(200_000));
    all.put("unknown struct, 200,000 deep", withFooter(MAGIC, deep, deep.length));
    all.put("schema 100,000 deep", of(s -> s.file = meta -> {
      for (int i = 0; i < 100_000; i++) {
        SchemaElement group = new SchemaElement("g");
        group.setNum_children(1).setRepetition_type(FieldRepetitionType.REQUIRED);
        meta.getSchema().add(1, group);
      }
    }));
    all.put("200,000 columns", of(s -> s.file = meta -> {
      meta.getSchema().get(0).setNum_children(200_001);
      meta.getSchema().addAll(Collections.nCopies(200_000, meta.getSchema().get(1)));
    }));
    all.put("500,000 row groups", of(s -> s.file = meta ->
        meta.getRow_groups().addAll(Collections.nCopies(500_000, new RowGroup(List.of(), 0, 0)))));
    all.put("500,000 keys", of(s -> s.file = meta ->
        meta.setKey_value_metadata(Collections.nCopies(500_000, new KeyValue("k")))));
    for (String writer : List.of("a version ", "version", " ", "(", "a version 1 (build ")) {
      all.put("writer of much '" + writer + "'", of(s -> s.file = meta ->
          meta.setCreated_by(writer.repeat(300_000 / writer.length()))));
    }
    return all;
  }

  /** Structs in the first field of structs, without an end. */
  private static byte[] nested(int depth) {
    byte[] all = new byte[depth];
    Arrays.fill(all, (byte) 0x1c);
    return all;
  }

  private static String hex(byte[] head) {
    StringBuilder out = new StringBuilder();
    for (int i = 0; i < 12; i++) {
      out.append(String.format("%02x", head[i]));
    }
    return out.toString();
  }

  /** Writes the files into a directory whose name has their label; one of them has holes. */
  static Path write(Path parent) throws IOException {
    Path dir = Files.createDirectory(parent.resolve("clicked=1"));
    for (Map.Entry<String, byte[]> bomb : all().entrySet()) {
      Files.write(dir.resolve(bomb.getKey().replaceAll("[^A-Za-z0-9^_-]+", "-") + ".parquet"), bomb.getValue());
    }
    Path sparse = dir.resolve("footer-in-a-hole.parquet");
    try (RandomAccessFile file = new RandomAccessFile(sparse.toFile(), "rw")) {
      file.write(MAGIC);
      file.seek((1L << 32) - 8);
      file.write(withFooter(new byte[0], new byte[0], MUCH));
    }
    return dir;
  }

  /** Reads the files of a directory; prints for each its name, the time that it took in ms, and what was said of it. */
  public static void main(String[] args) throws IOException {
    Slots slots = Slots.builder().id("user").label("clicked").build();
    try (var files = Files.newDirectoryStream(Path.of(args[0]), "*.parquet")) {
      for (Path file : files) {
        long begin = System.nanoTime();
        String said;
        try (SlotLoader loader = SlotLoader.open(new ParquetSource(slots, List.of(file),
            new BadLines(BadLines.Policy.FAIL)), LoaderOptions.inOrder(1000), 0)) {
          loader.next();
          said = "read";
        } catch (InvalidInput refused) {
          said = refused.getMessage();
        } catch (Throwable other) {
          said = "FAILED " + other;
        }
        System.out.println(file.getFileName() + "\t" + (System.nanoTime() - begin) / 1_000_000 + "\t" + said);
      }
    }
  }
}
