package io.regatta.data.prepare;

import io.regatta.core.file.WholeFile;
import io.regatta.data.file.DataFiles;
import java.io.FileOutputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/**
 * An input file of a {@link Preparation} in a form that can be cut anywhere: the file itself, or, if it is compressed
 * ({@code .gz}), a copy beside the parts. The copy is decompressed first and removed when the parts are made.
 * Immutable; any thread may use it.
 *
 * @param given the file
 * @param plain its content; the same file if it is not compressed
 */
record PlainInput(Path given, Path plain) {

  private static final int BUFFER_BYTES = 1 << 16;
  private static final String PACKED = ".gz";

  /** @param copy the place for its content if it is compressed */
  static PlainInput of(Path given, Path copy) {
    return new PlainInput(given, isPacked(given) ? copy : given);
  }

  private static boolean isPacked(Path file) {
    return file.getFileName().toString().endsWith(PACKED);
  }

  /** Returns the name of a file without that suffix. */
  static String unpackedName(Path file) {
    String name = file.getFileName().toString();
    return isPacked(file) ? name.substring(0, name.length() - PACKED.length()) : name;
  }

  /** Returns true if its content has not been decompressed yet. */
  boolean isMissing() {
    return !plain.equals(given) && !Files.exists(plain);
  }

  /** Decompresses it under another name, and renames that when it is whole and synced. */
  void unpack(Preparation.ReadBytes read) throws IOException {
    try (InputStream in = new GZIPInputStream(new Counted(Files.newInputStream(DataFiles.readable(given)), read), BUFFER_BYTES)) {
      WholeFile.write(plain, part -> {
        try (FileOutputStream out = new FileOutputStream(part.toFile())) {
          in.transferTo(out);
          out.getFD().sync();
        }
      });
    } catch (IOException e) {
      throw new IOException(DataFiles.name(given) + " cannot be decompressed: " + e.getMessage(), e);
    }
  }

  /** Removes the copy, once the parts are made. */
  void remove() throws IOException {
    if (!plain.equals(given)) {
      Files.deleteIfExists(plain);
    }
  }

  /** An input stream that reports the bytes read. */
  private static final class Counted extends FilterInputStream {

    private final Preparation.ReadBytes read;

    Counted(InputStream in, Preparation.ReadBytes read) {
      super(in);
      this.read = read;
    }

    @Override
    public int read() throws IOException {
      int one = super.read();
      read.done(one < 0 ? 0 : 1);
      return one;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int n = super.read(into, offset, length);
      read.done(Math.max(0, n));
      return n;
    }
  }
}
