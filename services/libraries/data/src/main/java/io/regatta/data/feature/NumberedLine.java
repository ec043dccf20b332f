package io.regatta.data.feature;

import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.PipeCommand;

/**
 * A line that is a row. Immutable.
 *
 * @param fileNumber number of its file among those that are read, from 0
 */
public record NumberedLine(Line line, int fileNumber) {

  /** Returns the position of the row. */
  RowFormat.Place place() {
    return new RowFormat.Place(line.file(), fileNumber, line.number());
  }

  /** Returns a cursor over the lines of files. */
  static SlotSource.Cursor<NumberedLine> cursor(FileQueue queue, PipeCommand command, DataCursor place) {
    return new Cursor(new LineCursor(queue, command, place));
  }

  private record Cursor(LineCursor lines) implements SlotSource.Cursor<NumberedLine> {

    @Override
    public NumberedLine next() {
      Line line = lines.next();
      return line == null ? null : new NumberedLine(line, lines.fileNumber());
    }

    @Override
    public DataCursor place() {
      return lines.place();
    }

    @Override
    public long bytesBehind() {
      return lines.bytesBehind();
    }

    @Override
    public void cancel() {
      lines.cancel();
    }

    @Override
    public void close() {
      lines.close();
    }
  }
}
