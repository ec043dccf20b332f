package io.regatta.data.format;

import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.Slots.Kind;
import io.regatta.data.Slots.Slot;
import io.regatta.data.file.Ascii;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * PaddleRec's slot text: {@code name:value} pairs separated by blanks, in any order
 * ({@code click:0 dense_feature:0.05 dense_feature:0.6 1:737395 2:210498}). A missing slot has no ids (or only 0), or
 * is all zeros if it is dense. Names without a slot are ignored; the label must be present. Immutable; any thread may
 * use it.
 */
public final class SlotTextFormat extends SlotLineFormat {

  private final byte[][] names;

  /** @param slots by name; their order is that of the features */
  public SlotTextFormat(Slots slots) {
    super(slots);
    names = new byte[slots.size()][];
    for (int i = 0; i < names.length; i++) {
      names[i] = slots.get(i).name().getBytes(StandardCharsets.UTF_8);
    }
  }

  @Override
  public String name() {
    return "slots";
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    clear(into, row);
    int[] taken = new int[names.length];
    int number = 0;
    int end;
    for (int at = Ascii.skipBlanks(bytes, line.from(), line.to()); at < line.to();
        at = Ascii.skipBlanks(bytes, end, line.to())) {
      end = Ascii.endOfToken(bytes, at, line.to());
      int colon = Ascii.find((byte) ':', bytes, at, end);
      if (colon == end) {
        return badLines.report(line, "character " + (at - line.from() + 1),
            BadLines.expected("name:value", line.text(at, end)));
      }
      int found = slot(bytes, at, colon, number);
      if (found < 0) {
        continue;
      }
      number = found;
      Slot slot = slots.get(found);
      String wrong = taken[found] == slot.width()
          ? "expected at most " + values(slot.width()) + ", found more"
          : put(line, colon + 1, end, found, into, row, taken);
      if (wrong != null) {
        return bad(line, slot, at, wrong, badLines);
      }
    }
    return complete(line, taken, badLines);
  }

  /** Checks that a dense slot is complete or missing, and that the label is present. */
  private boolean complete(Line line, int[] taken, BadLines badLines) {
    for (int i = 0; i < taken.length; i++) {
      Slot slot = slots.get(i);
      boolean absent = taken[i] == 0 && slot.kind() != Kind.LABEL;
      if (slot.kind() != Kind.IDS && !absent && taken[i] < slot.width()) {
        return badLines.report(line, "slot " + slot.name(), "expected " + values(slot.width()) + ", found " + taken[i]);
      }
    }
    return true;
  }

  private static String values(int number) {
    return number == 1 ? "1 value" : number + " values";
  }

  /**
   * Returns the number of the slot of a name, or -1. The search begins with slot {@code first}, because names are
   * mostly in order.
   */
  private int slot(byte[] bytes, int from, int to, int first) {
    for (int i = 0; i < names.length; i++) {
      int number = first + i < names.length ? first + i : first + i - names.length;
      byte[] name = names[number];
      if (Arrays.equals(name, 0, name.length, bytes, from, to)) {
        return number;
      }
    }
    return -1;
  }
}
