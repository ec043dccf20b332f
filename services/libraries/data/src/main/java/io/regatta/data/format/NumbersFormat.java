package io.regatta.data.format;

import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.Ascii;

/**
 * The format of lines that hold the floats of an example and nothing else: numbers between commas, blanks or tabs, or a
 * JSON array, which may be nested. There is no label; it becomes NaN. Immutable; any thread.
 */
public final class NumbersFormat implements LineFormat {

  private final Layout layout;

  /** @param numbers in a line */
  public NumbersFormat(int numbers) {
    layout = new Layout(numbers, 0);
  }

  @Override
  public String name() {
    return "numbers";
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    int found = 0;
    int at = line.from();
    while (at < line.to()) {
      if (isBetween(bytes[at])) {
        at++;
        continue;
      }
      int end = at;
      while (end < line.to() && !isBetween(bytes[end])) {
        end++;
      }
      float value = Ascii.number(bytes, at, end);
      if (Float.isNaN(value)) {
        return badLines.report(line, "column " + (found + 1), BadLines.expected("a number", line.text(at, end)));
      }
      if (found < layout.dense()) {
        into.dense()[row * layout.dense() + found] = value;
      }
      found++;
      at = end;
    }
    if (found != layout.dense()) {
      return badLines.report(line, "column " + (Math.min(found, layout.dense()) + 1), "expected " + layout.dense()
          + " numbers, found " + found);
    }
    into.labels()[row] = Float.NaN;
    return true;
  }

  private static boolean isBetween(byte b) {
    return b == ',' || b == ' ' || b == '\t' || b == '[' || b == ']';
  }
}
