package io.regatta.predictor.request;

import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import java.util.function.Consumer;

/** A request with one example per line; empty lines are skipped, and so are comments if the format has them. */
public final class RequestLines implements RequestExamples {

  private final byte[] text;
  private final LineFormat format;
  private final int lines;

  /** Finds the lines. */
  public RequestLines(byte[] text, LineFormat format) {
    this.text = text;
    this.format = format;
    int[] count = new int[1];
    eachLine(text, line -> count[0]++);
    lines = count[0];
  }

  @Override
  public int rows() {
    return lines;
  }

  @Override
  public long bytes() {
    return text.length;
  }

  @Override
  public int read(SlotBatch into, int at) {
    BadLines badLines = BadLines.refused();
    int[] rows = new int[1];
    eachLine(text, line -> rows[0] += format.parse(line, into, at + rows[0], badLines) ? 1 : 0);
    return rows[0];
  }

  /** Calls {@code each} for each line that is not empty. */
  private static void eachLine(byte[] text, Consumer<Line> each) {
    for (int from = 0, number = 1; from < text.length; number++) {
      int end = from;
      while (end < text.length && text[end] != '\n') {
        end++;
      }
      int to = end > from && text[end - 1] == '\r' ? end - 1 : end;
      if (to > from) {
        each.accept(new Line("request", number, text, from, to));
      }
      from = end + 1;
    }
  }
}
