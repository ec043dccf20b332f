package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.Ascii;
import java.util.Arrays;
import java.util.List;

/**
 * The line format of LibSVM (SVMlight): a label and {@code index:value} pairs separated by blanks
 * ({@code -1 3:1 11:0.5}). {@code qid:number} is ignored; {@code #} begins a comment. An example is one slot of ids,
 * the indices, with their values. The label is binary: 1 or +1, and 0 or -1, which becomes 0. Immutable; any thread may
 * use it.
 */
public final class LibSvmFormat implements LineFormat {

  private final Layout layout;

  /** @param features most features of a line */
  public LibSvmFormat(int features) {
    if (features < 1) {
      throw new InvalidInput("a LibSVM line must have room for at least 1 feature, not " + features);
    }
    layout = new Layout(0, List.of(features), true);
  }

  @Override
  public String name() {
    return "libsvm";
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    int room = layout.columns();
    int first = row * room;
    Arrays.fill(into.ids(), first, first + room, DistinctIds.PADDING);
    Arrays.fill(into.values(), first, first + room, 0f);
    int to = Ascii.find((byte) '#', bytes, line.from(), line.to());
    int at = Ascii.skipBlanks(bytes, line.from(), to);
    if (at == to && to < line.to()) {
      return false; // a comment and no example
    }
    int end = Ascii.endOfToken(bytes, at, to);
    float label = Ascii.number(bytes, at, end);
    if (label != 1 && label != 0 && label != -1) {
      return bad(line, at, BadLines.expected("a label, 1 or -1 (or 0)", line.text(at, end)), badLines);
    }
    into.labels()[row] = label == 1 ? 1f : 0f;
    int features = 0;
    for (at = Ascii.skipBlanks(bytes, end, to); at < to; at = Ascii.skipBlanks(bytes, end, to)) {
      end = Ascii.endOfToken(bytes, at, to);
      int colon = Ascii.find((byte) ':', bytes, at, end);
      if (colon < end && isQueryId(bytes, at, colon)) {
        continue;
      }
      float value = colon == end ? Float.NaN : Ascii.number(bytes, colon + 1, end);
      if (Float.isNaN(value) || !SlotIds.valid(bytes, at, colon)) {
        return bad(line, at, BadLines.expected("index:value", line.text(at, end)), badLines);
      }
      if (features == room) {
        return bad(line, at, "expected at most " + room + " features, found more: give the format more room", badLines);
      }
      into.ids()[first + features] = Ascii.id(bytes, at, colon);
      into.values()[first + features++] = value;
    }
    return true;
  }

  private static boolean isQueryId(byte[] bytes, int from, int to) {
    return to - from == 3 && bytes[from] == 'q' && bytes[from + 1] == 'i' && bytes[from + 2] == 'd';
  }

  private static boolean bad(Line line, int at, String problem, BadLines badLines) {
    return badLines.report(line, "character " + (at - line.from() + 1), problem);
  }
}
