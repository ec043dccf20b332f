package io.regatta.data;

import io.regatta.core.reduce.DistinctIds;

/**
 * A batch of examples in primitive arrays, row-major. One reader thread fills it and then passes it to the model
 * thread. The arrays may be longer than {@code rows} needs; what follows is undefined.
 *
 * @param layout widths of an example
 * @param rows examples in the batch
 * @param dense float features, {@code [rows × layout.dense()]}
 * @param ids sparse ids, {@code [rows × layout.columns()]}; {@link DistinctIds#PADDING} where a slot holds fewer
 * @param values of the ids; null if they have none
 * @param labels {@code [rows × layout.labels()]}; NaN where a label is missing
 * @param distinct the distinct ids of all rows, row by row; null if they were not computed
 * @param after the cursor after this batch; null if it is not tracked
 */
public record SlotBatch(Layout layout, int rows, float[] dense, long[] ids, float[] values, float[] labels,
    DistinctIds distinct, DataCursor after) {

  /** Returns an empty batch with room for {@code rows} examples, which a {@link SlotSource} fills. */
  public static SlotBatch allocate(Layout layout, int rows) {
    int places = Math.multiplyExact(rows, layout.columns());
    return new SlotBatch(layout, rows, new float[Math.multiplyExact(rows, layout.dense())], new long[places],
        layout.valued() ? new float[places] : null,
        new float[Math.multiplyExact(rows, layout.labels())], null, null);
  }

  /** Returns the bytes of an example in a batch. */
  public static long bytes(Layout layout) {
    long each = (layout.valued() ? Float.BYTES : 0) + Long.BYTES;
    return each * layout.columns() + (long) Float.BYTES * (layout.dense() + layout.labels());
  }

  /** Returns the first {@code n} examples, in the same arrays. */
  public SlotBatch first(int n) {
    return new SlotBatch(layout, n, dense, ids, values, labels, null, null);
  }

  /** Returns the first {@code n} examples, in the same arrays, with their distinct ids and the cursor after them. */
  SlotBatch first(int n, DataCursor next) {
    return new SlotBatch(layout, n, dense, ids, values, labels,
        layout.slots() == 0 ? null : DistinctIds.of(ids, n * layout.columns()), next);
  }

  /** Copies example {@code row} to row {@code at} of {@code into}, which has the same layout. */
  public void copy(int row, SlotBatch into, int at) {
    int columns = layout.columns();
    System.arraycopy(dense, row * layout.dense(), into.dense, at * layout.dense(), layout.dense());
    System.arraycopy(ids, row * columns, into.ids, at * columns, columns);
    if (values != null) {
      System.arraycopy(values, row * columns, into.values, at * columns, columns);
    }
    System.arraycopy(labels, row * layout.labels(), into.labels, at * layout.labels(), layout.labels());
  }

  /** Copies one slot of example {@code row} to row {@code at} of {@code into}, which has the same layout. */
  public void copySlot(int slot, int row, SlotBatch into, int at) {
    int columns = layout.columns();
    int from = 0;
    for (int before = 0; before < slot; before++) {
      from += layout.widths().get(before);
    }
    int width = layout.widths().get(slot);
    System.arraycopy(ids, row * columns + from, into.ids, at * columns + from, width);
    if (values != null) {
      System.arraycopy(values, row * columns + from, into.values, at * columns + from, width);
    }
  }
}
