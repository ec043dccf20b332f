package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ParquetDecodingException;
import org.brotli.dec.BrotliInputStream;
import org.xerial.snappy.Snappy;

/**
 * The codecs of Parquet pages for reading without Hadoop. Parquet's own factory gets gzip, lz4 and brotli from Hadoop,
 * which parquet-floor does not include. This one decodes these itself, and snappy with a check; the others are left to
 * that factory. Used by one thread at a time.
 */
final class ParquetCodecs implements CompressionCodecFactory {

  private static final String BROTLI = "org.brotli:dec";
  /** Bytes of the two sizes, before and after compression, in front of each block of Hadoop's LZ4. */
  private static final int LZ4_PREFIX = 2 * Integer.BYTES;

  private static final LZ4SafeDecompressor LZ4 = LZ4Factory.fastestInstance().safeDecompressor();

  private final CompressionCodecFactory others;

  /** @param others factory for the other codecs */
  ParquetCodecs(CompressionCodecFactory others) {
    this.others = others;
  }

  @Override
  public BytesInputCompressor getCompressor(CompressionCodecName codec) {
    return others.getCompressor(codec);
  }

  @Override
  public BytesInputDecompressor getDecompressor(CompressionCodecName codec) {
    return switch (codec) {
      case GZIP -> new Pages((page, size) -> whole(new GZIPInputStream(new ByteArrayInputStream(page)), size));
      case SNAPPY -> new Pages(ParquetCodecs::snappy);
      case BROTLI -> new Pages(ParquetCodecs::brotli);
      case LZ4_RAW -> new Pages((page, size) -> lz4(page, 0, page.length, size));
      case LZ4 -> new Pages(ParquetCodecs::hadoopLz4);
      case LZO -> throw new InvalidInput("pages are compressed with lzo, which is not read; write the file with zstd, snappy, gzip "
          + "or lz4");
      default -> others.getDecompressor(codec);
    };
  }

  @Override
  public void release() {
    others.release();
  }

  /**
   * Decodes a snappy page. The size in the page is checked first, because the library reserves direct memory for it.
   */
  private static byte[] snappy(byte[] page, int size) throws IOException {
    if (Snappy.uncompressedLength(page) != size) {
      throw new ParquetDecodingException("a page of " + size + " bytes declares " + Snappy.uncompressedLength(page));
    }
    return Snappy.uncompress(page);
  }

  private static byte[] brotli(byte[] page, int size) throws IOException {
    try {
      return whole(new BrotliInputStream(new ByteArrayInputStream(page)), size);
    } catch (NoClassDefFoundError e) {
      throw new InvalidInput("pages are compressed with brotli: put " + BROTLI + " on the class path, or write the file with zstd", e);
    }
  }

  private static byte[] whole(InputStream in, int size) throws IOException {
    try (in) {
      byte[] out = in.readNBytes(size);
      if (out.length < size) {
        throw new EOFException("a page of " + size + " bytes ends after " + out.length);
      }
      return out;
    }
  }

  private static byte[] lz4(byte[] page, int from, int length, int size) {
    byte[] out = new byte[size];
    int got = LZ4.decompress(page, from, length, out, 0, size);
    if (got != size) {
      throw new ParquetDecodingException("a page of " + size + " bytes has " + got);
    }
    return out;
  }

  /** Decodes blocks with two sizes in front of each; some writers have put one bare block into such pages. */
  private static byte[] hadoopLz4(byte[] page, int size) {
    ByteBuffer in = ByteBuffer.wrap(page);
    if (page.length < LZ4_PREFIX || in.getInt(0) < 0 || in.getInt(0) > size || in.getInt(Integer.BYTES) < 0
        || in.getInt(Integer.BYTES) > page.length - LZ4_PREFIX) {
      return lz4(page, 0, page.length, size);
    }
    ByteBuffer out = ByteBuffer.allocate(size);
    while (in.remaining() >= LZ4_PREFIX && out.hasRemaining()) {
      int block = in.getInt();
      int packed = in.getInt();
      if (block < 0 || block > out.remaining() || packed < 0 || packed > in.remaining()) {
        throw new ParquetDecodingException("a page of lz4 is damaged");
      }
      out.put(lz4(page, in.position(), packed, block));
      in.position(in.position() + packed);
    }
    return out.array();
  }

  @FunctionalInterface
  private interface Decoder {
    byte[] unpack(byte[] page, int size) throws IOException;
  }

  /** The decoder of one codec's pages. */
  private record Pages(Decoder codec) implements BytesInputDecompressor {

    @Override
    public BytesInput decompress(BytesInput page, int size) throws IOException {
      return BytesInput.from(codec.unpack(page.toByteArray(), size));
    }

    @Override
    public void decompress(ByteBuffer page, int packed, ByteBuffer out, int size) throws IOException {
      byte[] bytes = new byte[packed];
      page.get(bytes);
      out.put(codec.unpack(bytes, size));
    }

    @Override
    public void release() {
      // nothing is held
    }
  }
}
