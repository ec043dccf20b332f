package io.regatta.trainer.data;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * The bytes of one data file as a format sees them: unpacked if its name ends in {@code .gz}, and passed through a command
 * if there is one. Owned by the thread that reads; only {@link #cancel} may be called by another.
 */
abstract class FileBytes implements Closeable {

  private static final int GZIP_BUFFER_BYTES = 1 << 16;

  /** @param command null: none */
  static FileBytes open(Path file, PipeCommand command) throws IOException {
    DataFiles.readable(file);
    return command == null ? new Plain(unpacked(file)) : new PipedFile(file, command);
  }

  static boolean packed(Path file) {
    return file.getFileName().toString().endsWith(".gz");
  }

  /** The file's content, decompressed by name. */
  static InputStream unpacked(Path file) throws IOException {
    InputStream in = Files.newInputStream(file);
    if (!packed(file)) {
      return in;
    }
    try {
      return new GZIPInputStream(in, GZIP_BUFFER_BYTES);
    } catch (IOException | RuntimeException | Error e) {
      in.close();
      throw e;
    }
  }

  /** As {@link InputStream#read(byte[], int, int)}; at the end of a command's output, -1 only if it has succeeded. */
  abstract int read(byte[] into, int offset, int length) throws IOException;

  /** From any thread: a read that waits ends soon. */
  void cancel() {}

  private static final class Plain extends FileBytes {

    private final InputStream in;

    private Plain(InputStream in) {
      this.in = in;
    }

    @Override
    int read(byte[] into, int offset, int length) throws IOException {
      return in.read(into, offset, length);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
