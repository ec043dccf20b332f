package io.regatta.data.format;

import io.regatta.data.BadLines;
import io.regatta.data.Line;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.Slots.Kind;
import io.regatta.data.Slots.Slot;
import io.regatta.data.file.Ascii;

/**
 * PaddlePaddle's MultiSlot text: for every slot, in order, the number of its values and the values, all separated by
 * blanks ({@code 2 1001 1002 1 0.5 1 0}). Ids are unsigned 64-bit numbers; id 0 means no id, as in PaddlePaddle's
 * InMemory feed. A slot without values is an error, as in PaddlePaddle: the data's generator must pad it. Immutable;
 * any thread may use it.
 */
public final class MultiSlotFormat extends SlotLineFormat {

  private static final int NUMBER_DIGITS_MAX = 9;

  /** @param slots of every line, in order */
  public MultiSlotFormat(Slots slots) {
    super(slots);
  }

  @Override
  public String name() {
    return "multislot";
  }

  @Override
  public boolean parse(Line line, SlotBatch into, int row, BadLines badLines) {
    byte[] bytes = line.bytes();
    clear(into, row);
    int[] taken = new int[slots.size()];
    int at = Ascii.skipBlanks(bytes, line.from(), line.to());
    for (int number = 0; number < slots.size(); number++) {
      Slot slot = slots.get(number);
      int end = Ascii.endOfToken(bytes, at, line.to());
      int values = end - at > NUMBER_DIGITS_MAX || !Ascii.isId(bytes, at, end) ? -1 : (int) Ascii.id(bytes, at, end);
      String wrong = wrongNumber(slot, values, line, at, end);
      if (wrong != null) {
        return bad(line, slot, at, wrong, badLines);
      }
      for (int value = 0; value < values; value++) {
        at = Ascii.skipBlanks(bytes, end, line.to());
        end = Ascii.endOfToken(bytes, at, line.to());
        wrong = at == end ? "the line ends after " + value + " of " + values + " values"
            : put(line, at, end, number, into, row, taken);
        if (wrong != null) {
          return bad(line, slot, at, wrong, badLines);
        }
      }
      at = Ascii.skipBlanks(bytes, end, line.to());
    }
    if (at < line.to()) {
      return badLines.report(line, "character " + (at - line.from() + 1), BadLines.expected("the end of the line after its "
          + slots.size() + " slots", line.text(at, line.to())));
    }
    return true;
  }

  /** Returns the error in the number of values with which a slot begins; null if it is right. */
  private static String wrongNumber(Slot slot, int values, Line line, int at, int end) {
    if (at == end) {
      return "the line ends here, expected the number of its values";
    }
    if (values < 0) {
      return BadLines.expected("the number of its values", line.text(at, end));
    }
    if (values == 0) {
      return "it has no values, expected at least 1: pad it in the data's generator, an id with 0";
    }
    if (slot.kind() == Kind.IDS) {
      return values <= slot.width() ? null : "expected at most " + slot.width() + " ids, found " + values
          + ": give the slot more room";
    }
    return values == slot.width() ? null : "expected " + slot.width() + " values, found " + values;
  }
}
