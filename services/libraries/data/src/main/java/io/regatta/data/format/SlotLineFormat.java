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

/**
 * The common base of line formats with the values of {@link Slots}; subclasses decide how a value is assigned to its
 * slot. Immutable; any thread may use it.
 */
abstract class SlotLineFormat implements LineFormat {

  final Slots slots;

  SlotLineFormat(Slots slots) {
    this.slots = slots;
  }

  @Override
  public final Layout layout() {
    return slots.layout();
  }

  /** Clears a row: no ids, and dense features of 0. */
  final void clear(SlotBatch into, int row) {
    int columns = slots.layout().columns();
    int dense = slots.layout().dense();
    Arrays.fill(into.ids(), row * columns, (row + 1) * columns, DistinctIds.PADDING);
    Arrays.fill(into.dense(), row * dense, (row + 1) * dense, 0f);
  }

  /**
   * Stores a value after those that its slot already has.
   *
   * @param number of the slot, which has room
   * @param taken values that each slot has; of ids without 0, which means no id
   * @return the error in the value; null if it is right
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

  /** @param at index in the block at which the error begins */
  static boolean bad(Line line, Slot slot, int at, String problem, BadLines badLines) {
    return badLines.report(line, "character " + (at - line.from() + 1) + " (slot " + slot.name() + ")", problem);
  }
}
