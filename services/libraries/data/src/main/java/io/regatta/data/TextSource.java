package io.regatta.data;

import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileBytes;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.PipeCommand;
import java.nio.file.Path;
import java.util.List;

/**
 * A source of text files with one example per line, in any {@link LineFormat}. Files whose names end in {@code .gz} are
 * decompressed, and all may be piped through a command. Immutable; any thread may use it.
 */
public final class TextSource implements FileSource<Line> {

  /** Files up to this many bytes in total are counted first, so that progress can be shown. */
  private static final long COUNTED_BYTES_MAX = 1L << 30;
  private static final long NOT_COUNTED = -2;

  private final LineFormat format;
  private final List<Path> files;
  private final PipeCommand command;
  private final BadLines badLines;
  private volatile long size = NOT_COUNTED;

  public TextSource(LineFormat format, List<Path> files, BadLines badLines) {
    this(format, files, null, badLines);
  }

  /**
   * Creates a source.
   *
   * @param files read in this order; must exist
   * @param command through which each file is piped before it is lines of the format; null: none
   * @param badLines policy for lines that do not match
   */
  public TextSource(LineFormat format, List<Path> files, PipeCommand command, BadLines badLines) {
    this.format = format;
    this.files = List.copyOf(files);
    this.command = command;
    this.badLines = badLines;
    this.files.forEach(DataFiles::readable);
    badLines.doubtFormat(format.name());
  }

  @Override
  public String name() {
    return format.name();
  }

  @Override
  public Layout layout() {
    return format.layout();
  }

  @Override
  public List<Path> files() {
    return files;
  }

  @Override
  public long size() {
    if (size == NOT_COUNTED) {
      long bytes = files.stream().mapToLong(DataFiles::size).sum();
      boolean plain = command == null && files.stream().noneMatch(FileBytes::packed);
      size = plain && bytes <= COUNTED_BYTES_MAX ? LineCursor.count(files) : -1;
    }
    return size;
  }

  @Override
  public Cursor<Line> open(FileQueue queue, DataCursor place) {
    return new LineCursor(queue, command, place);
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row) {
    boolean good = format.parse(line, into, row, badLines);
    if (good) {
      badLines.good();
    }
    return good;
  }
}
