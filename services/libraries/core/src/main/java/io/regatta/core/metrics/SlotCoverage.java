package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * The fraction of the examples in which each slot holds at least one value. Not thread-safe; one owner. A value is an
 * id other than that of an empty one; values that share its id by their hash do not count. Counts are whole numbers,
 * which can be added over ranks, so that the global value is exactly what one process gets.
 */
public final class SlotCoverage {

  private final int[] widths;
  private final int columns;
  private final long[] emptyIds;
  private final long[] covered;
  private long examples;

  /**
   * Creates the coverage of no examples.
   *
   * @param widths for each slot, the number of ids that an example has room for
   * @param emptyIds for each slot, the id that an empty value has; empty if such a value has no id
   */
  public SlotCoverage(List<Integer> widths, List<Long> emptyIds) {
    if (!emptyIds.isEmpty() && emptyIds.size() != widths.size()) {
      throw new InvalidInput(emptyIds.size() + " ids of empty values for " + widths.size() + " slots: one each, or none");
    }
    this.emptyIds = emptyIds.stream().mapToLong(Long::longValue).toArray();
    this.widths = widths.stream().mapToInt(Integer::intValue).toArray();
    columns = widths.stream().mapToInt(Integer::intValue).sum();
    covered = new long[this.widths.length];
  }

  /**
   * Adds the examples of a batch.
   *
   * @param positions {@code [rows × places]}, row by row, in {@code ids}; negative where a place holds no id
   * @param ids the distinct ids of the batch
   */
  public void add(int[] positions, long[] ids) {
    if (columns == 0) {
      return;
    }
    int rows = positions.length / columns;
    if (rows * columns != positions.length) {
      throw new InvalidInput("a batch of " + positions.length + " places cannot be of examples with " + columns);
    }
    for (int row = 0, at = 0; row < rows; row++) {
      for (int slot = 0; slot < widths.length; slot++) {
        boolean any = false;
        for (int end = at + widths[slot]; at < end; at++) {
          any |= positions[at] >= 0 && (emptyIds.length == 0 || ids[positions[at]] != emptyIds[slot]);
        }
        covered[slot] += any ? 1 : 0;
      }
    }
    examples += rows;
  }

  /** Returns the number of slots. */
  public int slots() {
    return widths.length;
  }

  /** Returns the fraction of the examples in which a slot holds a value; NaN if there are none at all. */
  public double of(int slot) {
    return (double) covered[slot] / examples;
  }

  /** Returns the counts as doubles, of each slot, and of examples, to all-reduce with SUM and give to {@link #take}. */
  public double[] sums() {
    double[] sums = new double[covered.length + 1];
    for (int slot = 0; slot < covered.length; slot++) {
      sums[slot] = covered[slot];
    }
    sums[covered.length] = examples;
    return sums;
  }

  /** Sets the counts to the {@link #sums} of one instance, or of several with the same slots. */
  public void take(double[] sums) {
    if (sums.length != covered.length + 1) {
      throw new InvalidInput("an array of " + sums.length + " numbers is not the coverage of " + covered.length + " slots");
    }
    for (int slot = 0; slot < covered.length; slot++) {
      covered[slot] = (long) sums[slot];
    }
    examples = (long) sums[covered.length];
  }
}
