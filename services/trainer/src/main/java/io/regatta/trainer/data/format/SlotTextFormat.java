package io.regatta.trainer.data.format;

import io.regatta.core.reduce.DistinctIds;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.Line;
import io.regatta.trainer.data.LineFormat;
import io.regatta.trainer.data.SlotBatch;
import io.regatta.trainer.data.Slots;
import io.regatta.trainer.data.Slots.Kind;
import io.regatta.trainer.data.Slots.Slot;
import io.regatta.trainer.data.file.Ascii;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * PaddleRec's slot text: {@code name:value} pairs separated by blanks, in any order
 * ({@code click:0 dense_feature:0.05 dense_feature:0.6 1:737395 2:210498}). A slot that is missing has no ids (or only 0),
 * or is all zeros if it is dense; names that no slot has are passed over; the label must be there. Immutable, any thread.
 */
public final class SlotTextFormat implements LineFormat {

  private final Slots slots;
  private final byte[][] names;

  /** @param slots by name; their order is that of the features */
  public SlotTextFormat(Slots slots) {
    this.slots = slots;
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
  public Layout layout() {
    return slots.layout();
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    int columns = slots.layout().columns();
    int dense = slots.layout().dense();
    Arrays.fill(into.ids(), row * columns, (row + 1) * columns, DistinctIds.PADDING);
    Arrays.fill(into.dense(), row * dense, (row + 1) * dense, 0f);
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
          : set(line, colon + 1, end, found, into, row, taken);
      if (wrong != null) {
        return badLines.report(line, "character " + (at - line.from() + 1) + " (slot " + slot.name() + ")", wrong);
      }
    }
    return complete(line, taken, badLines);
  }

  /** Puts a value where it belongs; returns what is wrong with it, or null. */
  private String set(Line line, int from, int to, int number, SlotBatch into, int row, int[] taken) {
    byte[] bytes = line.bytes();
    Slot slot = slots.get(number);
    if (slot.kind() == Kind.IDS) {
      if (!SlotIds.valid(bytes, from, to)) {
        return BadLines.expected(SlotIds.EXPECTED, line.text(from, to));
      }
      taken[number] += SlotIds.put(Ascii.id(bytes, from, to), into.ids(),
          row * slots.layout().columns() + slot.offset() + taken[number]);
      return null;
    }
    float value = Ascii.number(bytes, from, to);
    if (Float.isNaN(value)) {
      return BadLines.expected("a number", line.text(from, to));
    }
    if (slot.kind() == Kind.LABEL) {
      if (!slots.takesLabel(value)) {
        return BadLines.expected(Slots.BINARY, line.text(from, to));
      }
      into.labels()[row] = value;
    } else {
      into.dense()[row * slots.layout().dense() + slot.offset() + taken[number]] = value;
    }
    taken[number]++;
    return null;
  }

  /** A dense slot is there in full or not at all, the label always. */
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

  /** Number of the slot of a name, or -1; it is looked for from slot {@code first} on, for names mostly come in order. */
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
