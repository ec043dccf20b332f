package io.regatta.data;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileBytes;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.LineBlocks;
import io.regatta.data.file.PipeCommand;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * A cursor over the lines of files, one file after another, as {@link LineBlocks} splits them. Empty lines are skipped
 * but numbered. One thread at a time uses it, except for {@link #cancel}.
 */
public final class LineCursor implements SlotSource.Cursor<Line> {

  private final FileQueue queue;
  private final PipeCommand command;
  private volatile FileBytes in;
  private volatile boolean cancelled;
  private int number = -1;
  private Path path;
  private String name;
  private LineBlocks blocks;
  private long lines;
  /** Bytes of the files before the open one. */
  private volatile long bytesBefore;

  public LineCursor(List<Path> files) {
    this(new FileQueue(files, 0), null, null);
  }

  /**
   * Creates a cursor over a queue of files.
   *
   * @param command through which files are piped; null: none
   * @param start where to begin, in the queue's first file; null, or without a file: at its beginning
   */
  public LineCursor(FileQueue queue, PipeCommand command, DataCursor start) {
    this.queue = queue;
    this.command = command;
    if (start != null && start.file() >= 0) {
      SlotSource.moveOrClose(this, () -> seek(start));
    }
  }

  @Override
  public Line next() {
    try {
      while (in != null || openNext()) {
        while (blocks.next()) {
          lines++;
          if (blocks.to() > blocks.from()) {
            return new Line(name, lines, blocks.block(), blocks.from(), blocks.to());
          }
        }
        close();
      }
      return null;
    } catch (IOException e) {
      throw DataFiles.unreadable(path, e);
    }
  }

  /** Returns the last line, extended by the one after it with the line end between them; null at the end of its file. */
  public Line join(Line last) {
    try {
      if (in == null || !blocks.join()) {
        return null;
      }
      lines++;
      return new Line(name, last.number(), blocks.block(), blocks.from(), blocks.to());
    } catch (IOException e) {
      throw DataFiles.unreadable(path, e);
    }
  }

  /** Returns the number of the last line's file among those that are read, from 0; -1 before the first line. */
  public int fileNumber() {
    return number;
  }

  /** Returns the last line's file. */
  public Path file() {
    return path;
  }

  @Override
  public DataCursor place() {
    return number < 0 ? null : new DataCursor(0, number, DataFiles.name(path), blocks.offset(), lines, 0, 0);
  }

  private void seek(DataCursor start) {
    try {
      if (openNext(start.offset())) {
        blocks.skipTo(start.offset());
        lines = start.records();
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(path, e);
    }
  }

  private boolean openNext() throws IOException {
    return openNext(0);
  }

  /** @param offset where reading should begin, if the file is seekable */
  private boolean openNext(long offset) throws IOException {
    int next = queue.take();
    if (next < 0) {
      return false;
    }
    number = next;
    path = queue.file(next);
    name = command == null ? DataFiles.name(path) : DataFiles.name(path) + " (through '" + command.line() + "')";
    if (cancelled) { // a command that is killed while it starts may leave its child processes running
      throw new Cancelled("reading of " + name + " was cancelled");
    }
    long begin = FileBytes.isSeekable(path, command) ? offset : 0;
    FileBytes opened = begin > 0 ? FileBytes.openAt(path, begin) : FileBytes.open(path, command);
    in = opened;
    if (cancelled) {
      opened.cancel();
    }
    blocks = new LineBlocks(name, opened::read, begin);
    lines = 0;
    return true;
  }

  @Override
  public long bytesBehind() {
    FileBytes open = in;
    return bytesBefore + (open == null ? 0 : open.bytesBehind());
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
        bytesBefore += in.bytesBehind();
        in.close();
      } catch (IOException e) {
        throw DataFiles.unreadable(path, e);
      } finally {
        in = null;
      }
    }
  }

  /** Returns the number of lines of a cursor over these files; reads them all, without parsing. */
  public static long count(List<Path> files) {
    long counted = 0;
    try (LineCursor cursor = new LineCursor(files)) {
      while (cursor.next() != null) {
        counted++;
      }
    }
    return counted;
  }
}
