package io.regatta.snapshot.safetensors;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * A reader of one safetensors file, tensor by tensor, each in slices. The header is checked as a whole when the file is
 * opened: offsets without gaps or overlaps that end where the file does. Owned by one thread.
 */
public final class SafetensorsFile implements AutoCloseable {

  /** Suffix of such files' names. */
  public static final String SUFFIX = ".safetensors";

  /** Longest header, as in the reference implementation. */
  private static final long HEADER_BYTES_MAX = 100_000_000;
  private static final int BUFFER_BYTES = 1 << 16;

  private final Path path;
  private final FileChannel file;
  private final long dataBegins;
  private final Map<String, String> metadata = new HashMap<>();
  private final Map<String, TensorInfo> tensors = new LinkedHashMap<>();

  private SafetensorsFile(Path path, FileChannel file) throws IOException {
    this.path = path;
    this.file = file;
    ByteBuffer length = ByteBuffer.allocate(SafetensorsWriter.LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    long size = file.size();
    if (size < length.capacity()) {
      throw damaged("it has " + size + " bytes, less than a header's length");
    }
    fill(length, 0);
    long headerBytes = length.flip().getLong();
    dataBegins = SafetensorsWriter.LENGTH_BYTES + headerBytes;
    if (headerBytes < 2 || headerBytes > HEADER_BYTES_MAX || dataBegins > size) {
      throw damaged("its header would have " + headerBytes + " bytes, the whole file has " + size);
    }
    ByteBuffer text = ByteBuffer.allocate((int) headerBytes);
    fill(text, SafetensorsWriter.LENGTH_BYTES);
    try {
      read(new JsonObject(new String(text.array(), StandardCharsets.UTF_8)), size - dataBegins);
    } catch (InvalidInput e) {
      throw e;
    } catch (RuntimeException e) { // no JSON, or of other types
      throw damaged("its header cannot be read: " + e.getMessage());
    }
  }

  /**
   * Opens a file.
   *
   * @throws InvalidInput if its header is damaged, or the file is cut
   * @throws IOException if it cannot be read
   */
  public static SafetensorsFile open(Path path) throws IOException {
    return of(path, FileChannel.open(path));
  }

  /** Opens a file that a manifest names. Fails as {@link ConfinedDirectory#open} does, too. */
  public static SafetensorsFile open(ConfinedDirectory dir, String name) throws IOException {
    return of(dir.pathOf(name), dir.open(name));
  }

  /** Takes over a file that has been opened, and closes it, also if it is refused. */
  public static SafetensorsFile of(Path path, FileChannel file) throws IOException {
    try {
      return new SafetensorsFile(path, file);
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  private void read(JsonObject header, long dataBytes) {
    List<TensorInfo> all = new ArrayList<>();
    for (String name : header.fieldNames()) {
      JsonObject entry = header.getJsonObject(name);
      if (name.equals(SafetensorsWriter.METADATA)) {
        entry.forEach(e -> metadata.put(e.getKey(), String.valueOf(e.getValue())));
        continue;
      }
      JsonArray offsets = entry.getJsonArray("data_offsets");
      List<Long> shape = entry.getJsonArray("shape").stream().map(n -> ((Number) n).longValue()).toList();
      all.add(new TensorInfo(name, entry.getString("dtype"), shape, offsets.getLong(0), offsets.getLong(1)));
    }
    all.sort((a, b) -> a.begin() != b.begin() ? Long.compare(a.begin(), b.begin()) : Long.compare(a.end(), b.end()));
    long at = 0;
    for (TensorInfo t : all) {
      boolean known = t.dtype().equals(TensorInfo.F32) || t.dtype().equals(TensorInfo.I64);
      if (t.begin() != at || t.end() < at || known && t.elements() * TensorInfo.width(t.dtype()) != t.bytes()) {
        throw damaged("its header gives tensor " + t.name() + " bytes " + t.begin() + " to " + t.end() + " for "
            + t.dtype() + " of shape " + t.shape());
      }
      at = t.end();
      tensors.put(t.name(), t);
    }
    if (at != dataBytes) {
      throw damaged("it has " + dataBytes + " bytes of data, its header says " + at);
    }
  }

  private InvalidInput damaged(String why) {
    return new InvalidInput(path + " is damaged: " + why + "; use another snapshot");
  }

  public Path path() {
    return path;
  }

  public Map<String, String> metadata() {
    return metadata;
  }

  /** Returns the tensors in the order of their data. */
  public Collection<TensorInfo> tensors() {
    return tensors.values();
  }

  public boolean has(String name) {
    return tensors.containsKey(name);
  }

  /** @throws InvalidInput if there is none of that name and type */
  public TensorInfo tensor(String name, String dtype) {
    TensorInfo t = tensors.get(name);
    if (t == null || !t.dtype().equals(dtype)) {
      throw damaged("it has no " + dtype + " tensor " + name);
    }
    return t;
  }

  /** Reads a tensor from its beginning. */
  public Cursor read(String name, String dtype) {
    return new Cursor(tensor(name, dtype));
  }

  /** Returns all elements of a float32 tensor. */
  public float[] floats(String name) throws IOException {
    float[] all = new float[Math.toIntExact(tensor(name, TensorInfo.F32).elements())];
    read(name, TensorInfo.F32).floats(all, 0, all.length);
    return all;
  }

  /** The position of a reader within a tensor. */
  public final class Cursor {

    private final TensorInfo tensor;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
    private long at;

    private Cursor(TensorInfo tensor) {
      this.tensor = tensor;
      at = tensor.begin();
    }

    public void floats(float[] to, int from, int n) throws IOException {
      for (int done = 0; done < n; ) {
        int part = Math.min(n - done, available(Float.BYTES) / Float.BYTES);
        buffer.asFloatBuffer().get(to, from + done, part);
        buffer.position(buffer.position() + part * Float.BYTES);
        done += part;
      }
    }

    public void longs(long[] to, int from, int n) throws IOException {
      for (int done = 0; done < n; ) {
        int part = Math.min(n - done, available(Long.BYTES) / Long.BYTES);
        buffer.asLongBuffer().get(to, from + done, part);
        buffer.position(buffer.position() + part * Long.BYTES);
        done += part;
      }
    }

    private int available(int least) throws IOException {
      if (buffer.remaining() < least) {
        buffer.clear().limit((int) Math.min(buffer.capacity(), tensor.end() - at));
        if (buffer.limit() < least) {
          throw new EOFException(path + ": tensor " + tensor.name() + " has no more elements");
        }
        fill(buffer, dataBegins + at);
        buffer.flip();
        at += buffer.limit();
      }
      return buffer.remaining();
    }
  }

  private void fill(ByteBuffer to, long from) throws IOException {
    for (long at = from; to.hasRemaining(); ) {
      int n = file.read(to, at);
      if (n < 0) {
        throw new EOFException(path + " ended at byte " + at);
      }
      at += n;
    }
  }

  /**
   * Returns the names of the tensors whose bytes have another checksum than the metadata; those without one are not
   * read.
   */
  public List<String> damagedTensors() throws IOException {
    List<String> damaged = new ArrayList<>();
    ByteBuffer piece = ByteBuffer.allocate(1 << 20);
    for (TensorInfo t : tensors.values()) {
      String expected = metadata.get(SafetensorsWriter.CRC + t.name());
      CRC32C crc = new CRC32C();
      for (long at = t.begin(); expected != null && at < t.end(); at += piece.limit()) {
        piece.clear().limit((int) Math.min(piece.capacity(), t.end() - at));
        fill(piece, dataBegins + at);
        crc.update(piece.flip());
      }
      if (expected != null && !expected.equals(String.format("%08x", crc.getValue()))) {
        damaged.add(t.name());
      }
    }
    return damaged;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
