package io.regatta.data.file;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * The bytes of one data file as a format sees them: decompressed if its name ends in {@code .gz}, and piped through a
 * command if there is one. Owned by the thread that reads; another may call only {@link #cancel} and
 * {@link #bytesBehind}.
 */
public abstract class FileBytes implements Closeable {

  /** Suffix of the names of compressed files. */
  static final String PACKED = ".gz";

  private static final int GZIP_BUFFER_BYTES = 1 << 16;

  /**
   * Opens a file at its beginning.
   *
   * @param command null: none
   */
  public static FileBytes open(Path file, PipeCommand command) throws IOException {
    DataFiles.readable(file);
    if (command != null) {
      return new PipedFile(file, command);
    }
    CountedInput raw = CountedInput.open(file, 0);
    return new Plain(raw, unpacked(file, raw));
  }

  /** Returns true if reading can begin in the middle of a file. */
  public static boolean isSeekable(Path file, PipeCommand command) {
    return command == null && !packed(file);
  }

  /** Opens a seekable file at an offset. */
  public static FileBytes openAt(Path file, long offset) throws IOException {
    CountedInput raw = CountedInput.open(DataFiles.readable(file), offset);
    return new Plain(raw, raw);
  }

  public static boolean packed(Path file) {
    return file.getFileName().toString().endsWith(PACKED);
  }

  /** Returns the file's content, decompressed if its name says so. */
  public static InputStream unpacked(Path file) throws IOException {
    return unpacked(file, CountedInput.open(file, 0));
  }

  /** Returns the content of these bytes of a file, which are closed with it, or if it fails. */
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

  /**
   * Reads like {@link InputStream#read(byte[], int, int)}; at the end of a command's output, -1 only if it has
   * succeeded.
   */
  public abstract int read(byte[] into, int offset, int length) throws IOException;

  /** Returns the bytes read so far of the file as stored on disk, as far as that is known; for progress. Any thread. */
  public abstract long bytesBehind();

  /** Cancels a read that waits: it ends soon. Any thread. */
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
