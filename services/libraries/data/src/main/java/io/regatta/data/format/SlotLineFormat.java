package io.regatta.data.format;

import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.Slots;
import io.regatta.data.Slots.Slot;
import io.regatta.data.file.Ascii;
import java.util.Arrays;

/** Lines of the values of {@link Slots}, whichever way they say which value is which slot's. Immutable, any thread. */
abstract class SlotLineFormat implements LineFormat {

  final Slots slots;

  SlotLineFormat(Slots slots) {
    this.slots = slots;
  }

  @Override
  public final Layout layout() {
    return slots.layout();
  }

  /** A row without ids, all zeros where it is dense. */
  final void clear(SlotBatch into, int row) {
    int columns = slots.layout().columns();
    int dense = slots.layout().dense();
    Arrays.fill(into.ids(), row * columns, (row + 1) * columns, DistinctIds.PADDING);
    Arrays.fill(into.dense(), row * dense, (row + 1) * dense, 0f);
  }

  /**
   * Puts a value where it belongs, behind those that its slot has already.
   *
   * @param number of the slot, which has room
   * @param taken values that each slot has, of ids without 0, which is none
   * @return what is wrong with it; null: nothing
   */
  final String put(Line line, int from, int to, int number, SlotBatch into, int row, int[] taken) {
    byte[] bytes = line.bytes();
    Slot slot = slots.get(number);
    if (slot.kind() == Slots.Kind.IDS) {
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
    if (slot.kind() == Slots.Kind.LABEL) {
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

  /** @param at where in the block the trouble begins */
  static boolean bad(Line line, Slot slot, int at, String problem, BadLines badLines) {
    return badLines.report(line, "character " + (at - line.from() + 1) + " (slot " + slot.name() + ")", problem);
  }
}
