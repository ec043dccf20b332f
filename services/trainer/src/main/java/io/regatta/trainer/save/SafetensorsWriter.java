package io.regatta.trainer.save;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * Writes one safetensors file: 8 bytes of header length, a JSON header (name → dtype, shape, offsets), then the data,
 * little-endian. The data goes to disk as it comes; room for the header is kept in front of it, and what it does not
 * need is filled with spaces, as the format allows. Not thread-safe; the caller's thread does the I/O.
 */
final class SafetensorsWriter implements AutoCloseable {

  private static final int LENGTH_BYTES = 8;
  private static final int BUFFER_BYTES = 1 << 20;

  private final FileChannel file;
  private final int headerBytes;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final JsonObject header = new JsonObject();
  private long position;
  private long tensorStart;

  /** @param headerBytes room for the header: about 120 bytes and the name per tensor, plus the metadata */
  SafetensorsWriter(Path path, int headerBytes, JsonObject metadata) throws IOException {
    this.headerBytes = (headerBytes + 7) / 8 * 8;
    file = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE);
    file.position(LENGTH_BYTES + this.headerBytes);
    header.put("__metadata__", metadata);
  }

  /** Begins the next tensor's data. */
  void begin() {
    tensorStart = position;
  }

  void floats(float[] values) throws IOException {
    for (int from = 0; from < values.length; ) {
      int n = Math.min(values.length - from, room(Float.BYTES).remaining() / Float.BYTES);
      buffer.asFloatBuffer().put(values, from, n);
      buffer.position(buffer.position() + n * Float.BYTES);
      from += n;
    }
    position += (long) values.length * Float.BYTES;
  }

  void longs(long[] values) throws IOException {
    for (int from = 0; from < values.length; ) {
      int n = Math.min(values.length - from, room(Long.BYTES).remaining() / Long.BYTES);
      buffer.asLongBuffer().put(values, from, n);
      buffer.position(buffer.position() + n * Long.BYTES);
      from += n;
    }
    position += (long) values.length * Long.BYTES;
  }

  /** Names what has been written since {@link #begin}. */
  void end(String name, String dtype, List<? extends Number> shape) {
    header.put(name, new JsonObject().put("dtype", dtype).put("shape", new JsonArray(List.copyOf(shape)))
        .put("data_offsets", new JsonArray().add(tensorStart).add(position)));
  }

  private ByteBuffer room(int bytes) throws IOException {
    if (buffer.remaining() < bytes) {
      flush();
    }
    return buffer;
  }

  private void flush() throws IOException {
    buffer.flip();
    while (buffer.hasRemaining()) {
      file.write(buffer);
    }
    buffer.clear();
  }

  /** Writes the header and closes the file. */
  void finish() throws IOException {
    flush();
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
    for (long at = 0; front.hasRemaining(); ) {
      at += file.write(front, at);
    }
    file.force(true);
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
