package io.regatta.data.file;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * The bytes of one data file as a format sees them: unpacked if its name ends in {@code .gz}, and passed through a command
 * if there is one. Owned by the thread that reads; only {@link #cancel} may be called by another.
 */
public abstract class FileBytes implements Closeable {

  /** What the names of packed files end in. */
  static final String PACKED = ".gz";

  private static final int GZIP_BUFFER_BYTES = 1 << 16;

  /** @param command null: none */
  public static FileBytes open(Path file, PipeCommand command) throws IOException {
    DataFiles.readable(file);
    if (command != null) {
      return new PipedFile(file, command);
    }
    CountedInput raw = CountedInput.open(file, 0);
    return new Plain(raw, unpacked(file, raw));
  }

  /** Whether reading can begin in the middle of a file. */
  public static boolean isSeekable(Path file, PipeCommand command) {
    return command == null && !packed(file);
  }

  /** From an offset on, of a file in which reading can begin anywhere. */
  public static FileBytes openAt(Path file, long offset) throws IOException {
    CountedInput raw = CountedInput.open(DataFiles.readable(file), offset);
    return new Plain(raw, raw);
  }

  public static boolean packed(Path file) {
    return file.getFileName().toString().endsWith(PACKED);
  }

  /** The file's content, decompressed by name. */
  public static InputStream unpacked(Path file) throws IOException {
    return unpacked(file, CountedInput.open(file, 0));
  }

  /** The same of its bytes, which are closed with it, or if it fails. */
  public static InputStream unpacked(Path file, InputStream raw) throws IOException {
    if (!packed(file)) {
      return raw;
    }
    try {
      return new GZIPInputStream(raw, GZIP_BUFFER_BYTES);
    } catch (IOException | RuntimeException | Error e) {
      raw.close();
      throw e;
    }
  }

  /** As {@link InputStream#read(byte[], int, int)}; at the end of a command's output, -1 only if it has succeeded. */
  public abstract int read(byte[] into, int offset, int length) throws IOException;

  /** Bytes of the file as it lies on disk that are behind, as far as that is known: for progress. Any thread. */
  public abstract long bytesBehind();

  /** From any thread: a read that waits ends soon. */
  public void cancel() {}

  private static final class Plain extends FileBytes {

    private final CountedInput raw;
    private final InputStream in;

    private Plain(CountedInput raw, InputStream in) {
      this.raw = raw;
      this.in = in;
    }

    @Override
    public long bytesBehind() {
      return raw.offset();
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      return in.read(into, offset, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
