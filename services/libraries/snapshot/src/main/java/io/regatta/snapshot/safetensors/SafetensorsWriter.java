package io.regatta.snapshot.safetensors;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A writer of one safetensors file: 8 bytes of header length, a JSON header (name → dtype, shape, offsets), then the
 * data, little-endian. Tensors whose shape is known beforehand lie one after the other and may be written side by side,
 * each from its beginning to its end. After them one at a time may be open-ended. Room for the header is kept in front;
 * unused room is filled with spaces, as the format allows. The header's metadata hold the CRC-32C of every tensor's
 * bytes, under {@code "crc32c " + name}, so that a reader can name a damaged tensor. Memory is one buffer of
 * {@value #BUFFER_BYTES} bytes per tensor that is being written. Owned by one thread, which does the I/O.
 */
public final class SafetensorsWriter implements AutoCloseable {

  static final String CRC = "crc32c ";
  static final String METADATA = "__metadata__";
  static final int LENGTH_BYTES = 8;
  private static final int BUFFER_BYTES = 1 << 16;
  private static final int HEADER_BYTES_PER_TENSOR = 256;

  private final FileChannel file;
  private final int headerBytes;
  private final JsonObject metadata = new JsonObject();
  private final List<Tensor> tensors = new ArrayList<>();
  /** Offset of the next tensor, after the header. */
  private long next;

  /** @param headerBytes see {@link #headerBytes} */
  public SafetensorsWriter(Path path, int headerBytes, Map<String, String> metadata) throws IOException {
    this(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE), headerBytes, metadata);
  }

  /** Begins an empty file that is open already, which this closes. */
  public SafetensorsWriter(FileChannel file, int headerBytes, Map<String, String> metadata) {
    this.file = file;
    this.headerBytes = (headerBytes + 7) / 8 * 8;
    metadata.forEach(this.metadata::put);
  }

  /** Returns the most bytes that a header with tensors of these names needs. */
  public static int headerBytes(Collection<String> names, Map<String, String> metadata) {
    int bytes = HEADER_BYTES_PER_TENSOR;
    for (String name : names) {
      bytes += HEADER_BYTES_PER_TENSOR + 2 * json(name);
    }
    for (Map.Entry<String, String> m : metadata.entrySet()) {
      bytes += json(m.getKey()) + json(m.getValue());
    }
    return bytes;
  }

  private static int json(String text) {
    return new JsonArray().add(text).encode().getBytes(StandardCharsets.UTF_8).length;
  }

  /** Begins a tensor of a known shape, after those before it. */
  public Tensor tensor(String name, String dtype, List<? extends Number> shape) {
    Tensor t = new Tensor(name, dtype, next);
    t.shape = List.copyOf(shape);
    t.limit = next + TensorInfo.elements(shape) * TensorInfo.width(dtype);
    next = t.limit;
    return t;
  }

  /** Begins a tensor whose shape {@link Tensor#end} gives; no other may begin before that. */
  public Tensor openEnded(String name, String dtype) {
    Tensor t = new Tensor(name, dtype, next);
    t.limit = Long.MAX_VALUE;
    next = Long.MAX_VALUE;
    return t;
  }

  /** A tensor that is being written, from its beginning on. */
  public final class Tensor {

    private final String name;
    private final String dtype;
    private final long begin;
    private final CRC32C crc = new CRC32C();
    private ByteBuffer buffer;
    private List<Number> shape;
    private long limit;
    /** Offset after the last byte that has been given. */
    private long given;
    /** Offset after the last byte that has been written. */
    private long written;

    private Tensor(String name, String dtype, long begin) {
      if (begin == Long.MAX_VALUE) {
        throw new IllegalStateException("tensor " + name + " begins before the open-ended one has ended");
      }
      this.name = name;
      this.dtype = dtype;
      this.begin = begin;
      given = begin;
      written = begin;
      tensors.add(this);
    }

    public void floats(float[] values, int from, int n) throws IOException {
      take(n * (long) Float.BYTES);
      for (int done = 0; done < n; ) {
        int part = Math.min(n - done, room(Float.BYTES) / Float.BYTES);
        buffer.asFloatBuffer().put(values, from + done, part);
        buffer.position(buffer.position() + part * Float.BYTES);
        done += part;
      }
    }

    public void longs(long[] values, int from, int n) throws IOException {
      take(n * (long) Long.BYTES);
      for (int done = 0; done < n; ) {
        int part = Math.min(n - done, room(Long.BYTES) / Long.BYTES);
        buffer.asLongBuffer().put(values, from + done, part);
        buffer.position(buffer.position() + part * Long.BYTES);
        done += part;
      }
    }

    /** Ends an open-ended tensor. */
    public void end(List<? extends Number> itsShape) {
      shape = List.copyOf(itsShape);
      limit = given;
      next = given;
    }

    private void take(long bytes) {
      if (bytes > limit - given) {
        throw new IllegalStateException("tensor " + name + " was given more than its shape " + shape + " holds");
      }
      given += bytes;
    }

    private int room(int least) throws IOException {
      if (buffer == null) {
        buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
      } else if (buffer.remaining() < least) {
        flush();
      }
      return buffer.remaining();
    }

    private void flush() throws IOException {
      if (buffer == null) {
        return;
      }
      buffer.flip();
      crc.update(buffer.duplicate());
      write(buffer, LENGTH_BYTES + headerBytes + written);
      written += buffer.limit();
      buffer.clear();
      if (given == limit && written == limit) {
        buffer = null; // complete: its memory is free
      }
    }

    private JsonObject header() {
      if (given != limit || shape == null || TensorInfo.elements(shape) * TensorInfo.width(dtype) != limit - begin) {
        throw new IllegalStateException("tensor " + name + " was given " + (given - begin) + " bytes for shape " + shape);
      }
      return new JsonObject().put("dtype", dtype).put("shape", new JsonArray(shape))
          .put("data_offsets", new JsonArray().add(begin).add(limit));
    }
  }

  private void write(ByteBuffer bytes, long at) throws IOException {
    for (long to = at; bytes.hasRemaining(); ) {
      to += file.write(bytes, to);
    }
  }

  /** Writes the remaining data and the header, and syncs the file to disk. */
  public void finish() throws IOException {
    JsonObject header = new JsonObject().put(METADATA, metadata);
    for (Tensor t : tensors) {
      t.flush();
      header.put(t.name, t.header());
      metadata.put(CRC + t.name, String.format("%08x", t.crc.getValue()));
    }
    byte[] json = header.encode().getBytes(StandardCharsets.UTF_8);
    if (json.length > headerBytes) {
      throw new IOException("the header needs " + json.length + " bytes, but " + headerBytes + " were kept for it");
    }
    ByteBuffer front = ByteBuffer.allocate(LENGTH_BYTES + headerBytes).order(ByteOrder.LITTLE_ENDIAN);
    front.putLong(headerBytes).put(json);
    while (front.hasRemaining()) {
      front.put((byte) ' ');
    }
    front.flip();
    write(front, 0);
    file.force(true);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
