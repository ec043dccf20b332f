package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/**
 * Cuts files into lines, one file after another; one thread at a time. Line ends are {@code \n} or {@code \r\n}; a last
 * line without one counts; empty lines are passed over (but numbered).
 */
final class LineCursor implements SlotSource.Cursor<Line> {

  /** A longer line is taken for a file that is not text. */
  private static final int LINE_BYTES_MAX = 1 << 20;
  private static final int BUFFER_BYTES = 1 << 18;

  private final Iterator<Path> files;
  private Path file;
  private InputStream in;
  private byte[] buffer = new byte[BUFFER_BYTES];
  private int position;
  private int limit;
  private boolean atEnd = true;
  private long number;

  LineCursor(List<Path> files) {
    this.files = files.iterator();
  }

  @Override
  public Line next() {
    try {
      while (true) {
        if (position == limit && atEnd && !openNext()) {
          return null;
        }
        Line line = nextInFile();
        if (line != null && line.bytes().length > 0) {
          return line;
        }
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
  }

  private boolean openNext() throws IOException {
    close();
    if (!files.hasNext()) {
      return false;
    }
    file = DataFiles.readable(files.next());
    in = Files.newInputStream(file);
    position = 0;
    limit = 0;
    number = 0;
    atEnd = false;
    return true;
  }

  /** The next line, possibly empty, or null at the end of the file. */
  private Line nextInFile() throws IOException {
    int scanned = position;
    while (true) {
      for (int i = scanned; i < limit; i++) {
        if (buffer[i] == '\n') {
          return take(i, i + 1);
        }
      }
      scanned = limit - position;
      if (atEnd) {
        return position < limit ? take(limit, limit) : null;
      }
      fill();
    }
  }

  /** Moves what is left to the front and reads behind it. */
  private void fill() throws IOException {
    int left = limit - position;
    if (left >= LINE_BYTES_MAX) {
      throw new InvalidInput(file + ", line " + (number + 1) + " is longer than " + LINE_BYTES_MAX
          + " bytes. Is this a text file?");
    }
    if (left == buffer.length) {
      buffer = Arrays.copyOf(buffer, 2 * left);
    } else {
      System.arraycopy(buffer, position, buffer, 0, left);
    }
    position = 0;
    int read = in.read(buffer, left, buffer.length - left);
    atEnd = read < 0;
    limit = left + Math.max(0, read);
  }

  private Line take(int end, int next) {
    int last = end > position && buffer[end - 1] == '\r' ? end - 1 : end;
    Line line = new Line(file, ++number, Arrays.copyOfRange(buffer, position, last));
    position = next;
    return line;
  }

  @Override
  public void close() {
    if (in != null) {
      try {
        in.close();
      } catch (IOException e) {
        throw DataFiles.unreadable(file, e);
      } finally {
        in = null;
        atEnd = true;
        position = limit;
      }
    }
  }

  /** Lines that a cursor over these files yields: reads them all, without parsing. */
  static long count(List<Path> files) {
    long lines = 0;
    byte[] block = new byte[BUFFER_BYTES];
    for (Path file : files) {
      boolean empty = true;
      try (InputStream in = Files.newInputStream(DataFiles.readable(file))) {
        for (int read = in.read(block); read >= 0; read = in.read(block)) {
          for (int i = 0; i < read; i++) {
            if (block[i] != '\n') {
              empty &= block[i] == '\r';
            } else {
              lines += empty ? 0 : 1;
              empty = true;
            }
          }
        }
      } catch (IOException e) {
        throw DataFiles.unreadable(file, e);
      }
      lines += empty ? 0 : 1;
    }
    return lines;
  }
}
