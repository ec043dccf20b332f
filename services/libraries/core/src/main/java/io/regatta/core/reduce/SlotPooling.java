package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;

/**
 * Sum pooling of slots that hold several ids. Immutable, any thread. Slot s of an example is the sum of its ids' rows,
 * each times its value if values are given. A batch's ids are row-major {@code [examples × columns]}, the columns of
 * one slot side by side. A slot that holds fewer ids is filled with {@link DistinctIds#PADDING}.
 */
public final class SlotPooling {

  private final int[] slotOfColumn;
  private final int slots;

  /**
   * Creates the pooling of a layout of slots.
   *
   * @param widths columns of each slot, at least 1
   */
  public SlotPooling(List<Integer> widths) {
    slots = widths.size();
    slotOfColumn = new int[widths.stream().mapToInt(Integer::intValue).sum()];
    int column = 0;
    for (int slot = 0; slot < slots; slot++) {
      if (widths.get(slot) < 1) {
        throw new InvalidInput("slot " + slot + " must hold at least 1 id, not " + widths.get(slot));
      }
      for (int i = 0; i < widths.get(slot); i++) {
        slotOfColumn[column++] = slot;
      }
    }
  }

  public int slots() {
    return slots;
  }

  /** Returns the number of ids that an example has room for. */
  public int columns() {
    return slotOfColumn.length;
  }

  /**
   * Appends the slots' sums, {@code [examples × slots × dim]}, to {@code out}.
   *
   * @param rows {@code [ids.size() × dim]}
   * @param values one for each position of the batch, or null: all 1
   */
  public void pool(DistinctIds ids, float[] rows, int dim, float[] values, FloatBuffer out) {
    int[] position = ids.position();
    float[] sums = new float[slots * dim];
    for (int first = 0; first < position.length; first += slotOfColumn.length) {
      Arrays.fill(sums, 0f);
      for (int column = 0; column < slotOfColumn.length; column++) {
        int from = position[first + column] * dim;
        if (from < 0) {
          continue;
        }
        float value = values == null ? 1f : values[first + column];
        int to = slotOfColumn[column] * dim;
        for (int k = 0; k < dim; k++) {
          sums[to + k] += value * rows[from + k];
        }
      }
      out.put(sums);
    }
  }

  /**
   * Returns the gradients of the ids' rows, {@code [ids.size() × dim]}, summed in the order of positions.
   *
   * @param gradients of the slots' sums, {@code [examples × slots × dim]} from the buffer's start
   * @param values as in {@link #pool}
   */
  public float[] spread(DistinctIds ids, FloatBuffer gradients, int dim, float[] values) {
    int[] position = ids.position();
    float[] sums = new float[ids.size() * dim];
    int example = 0;
    for (int first = 0; first < position.length; first += slotOfColumn.length, example++) {
      for (int column = 0; column < slotOfColumn.length; column++) {
        int to = position[first + column] * dim;
        if (to < 0) {
          continue;
        }
        float value = values == null ? 1f : values[first + column];
        int from = (example * slots + slotOfColumn[column]) * dim;
        for (int k = 0; k < dim; k++) {
          sums[to + k] += value * gradients.get(from + k);
        }
      }
    }
    return sums;
  }
}
