package io.regatta.trainer.data;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Cuts files into lines, one file after another; one thread at a time, but for {@link #cancel}. Line ends are {@code \n} or
 * {@code \r\n}; a last line without one counts; empty lines are passed over (but numbered). Lines are parts of the blocks
 * that were read: nothing is copied but the beginning of a line that a block ends in.
 */
final class LineCursor implements SlotSource.Cursor<Line> {

  /** A longer line is taken for a file that is not text. */
  private static final int LINE_BYTES_MAX = 1 << 20;
  private static final int BLOCK_BYTES = 1 << 18;

  private final FileQueue queue;
  private final PipeCommand command;
  private volatile FileBytes in;
  private volatile boolean cancelled;
  private int number = -1;
  private Path path;
  private String name;
  private byte[] block = new byte[0];
  private int position;
  private int limit;
  /** Bytes of the file before the block. */
  private long blockOffset;
  private boolean atEnd = true;
  private long lines;

  LineCursor(List<Path> files) {
    this(new FileQueue(files, 0), null, null);
  }

  /**
   * @param command that files go through; null: none
   * @param start where to begin, in the queue's first file; null: at its beginning
   */
  LineCursor(FileQueue queue, PipeCommand command, DataCursor start) {
    this.queue = queue;
    this.command = command;
    if (start != null) {
      seek(start);
    }
  }

  @Override
  public Line next() {
    try {
      while (true) {
        if (position == limit && atEnd && !openNext()) {
          return null;
        }
        Line line = nextInFile();
        if (line != null && line.to() > line.from()) {
          return line;
        }
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(path, e);
    }
  }

  @Override
  public DataCursor place() {
    return number < 0 ? null : new DataCursor(0, number, DataFiles.name(path), blockOffset + position, lines, 0, 0);
  }

  private void seek(DataCursor start) {
    try {
      if (!openNext()) {
        return;
      }
      while (blockOffset + limit < start.offset() && !atEnd) { // also what is packed or made by a command
        position = limit;
        fill();
      }
      position = (int) Math.min(limit, start.offset() - blockOffset);
      lines = start.records();
    } catch (IOException e) {
      throw DataFiles.unreadable(path, e);
    }
  }

  private boolean openNext() throws IOException {
    close();
    int next = queue.take();
    if (next < 0) {
      return false;
    }
    number = next;
    path = queue.file(next);
    name = command == null ? DataFiles.name(path) : DataFiles.name(path) + " (through '" + command.line() + "')";
    if (cancelled) { // a command that is killed while it starts may leave what it starts behind
      throw new Cancelled("reading of " + name + " was cancelled");
    }
    in = FileBytes.open(path, command);
    if (cancelled) {
      in.cancel();
    }
    position = 0;
    limit = 0;
    blockOffset = 0;
    lines = 0;
    atEnd = false;
    return true;
  }

  /** The next line, possibly empty, or null at the end of the file. */
  private Line nextInFile() throws IOException {
    int scanned = position;
    while (true) {
      int end = Ascii.find((byte) '\n', block, scanned, limit);
      if (end < limit) {
        return take(end, end + 1);
      }
      scanned = limit - position;
      if (atEnd) {
        return position < limit ? take(limit, limit) : null;
      }
      fill();
    }
  }

  /** Begins a new block with what is left of the one before, for lines that were taken keep theirs; reads behind it. */
  private void fill() throws IOException {
    int left = limit - position;
    if (left >= LINE_BYTES_MAX) {
      throw new InvalidInput(name + ", line " + (lines + 1) + " is longer than " + LINE_BYTES_MAX
          + " bytes. Is this a text file?");
    }
    byte[] next = new byte[Math.max(BLOCK_BYTES, 2 * left)];
    System.arraycopy(block, position, next, 0, left);
    blockOffset += position;
    block = next;
    position = 0;
    limit = left;
    while (limit < block.length && !atEnd) { // a command's output comes in small pieces
      int read = in.read(block, limit, block.length - limit);
      atEnd = read < 0;
      limit += Math.max(0, read);
    }
  }

  private Line take(int end, int next) {
    int last = end > position && block[end - 1] == '\r' ? end - 1 : end;
    Line line = new Line(name, ++lines, block, position, last);
    position = next;
    return line;
  }

  @Override
  public void cancel() {
    cancelled = true;
    FileBytes open = in;
    if (open != null) {
      open.cancel();
    }
  }

  @Override
  public void close() {
    if (in != null) {
      try {
        in.close();
      } catch (IOException e) {
        throw DataFiles.unreadable(path, e);
      } finally {
        in = null;
        atEnd = true;
        position = limit;
      }
    }
  }

  /** Lines that a cursor over these files yields: reads them all, without parsing. */
  static long count(List<Path> files) {
    long counted = 0;
    try (LineCursor cursor = new LineCursor(files)) {
      while (cursor.next() != null) {
        counted++;
      }
    }
    return counted;
  }
}
