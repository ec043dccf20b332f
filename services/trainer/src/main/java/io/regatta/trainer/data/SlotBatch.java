package io.regatta.trainer.data;

import io.regatta.core.reduce.DistinctIds;

/**
 * A batch of examples in primitive arrays, row-major, filled by one reader thread and then handed to the model thread.
 * The arrays may be longer than {@code rows} needs; what lies behind is undefined.
 *
 * @param layout widths of an example
 * @param rows examples in the batch
 * @param dense float features, {@code [rows × layout.dense()]}
 * @param ids sparse ids, {@code [rows × layout.slots()]}
 * @param labels {@code [rows]}
 * @param distinct the distinct ids of all rows, row by row; null where nobody has looked for them
 */
public record SlotBatch(Layout layout, int rows, float[] dense, long[] ids, float[] labels, DistinctIds distinct) {

  /** An empty batch with room for {@code rows} examples, which a {@link SlotSource} fills. */
  public static SlotBatch allocate(Layout layout, int rows) {
    return new SlotBatch(layout, rows, new float[rows * layout.dense()], new long[rows * layout.slots()],
        new float[rows], null);
  }

  /** The first {@code n} examples, in the same arrays, with their distinct ids. */
  SlotBatch first(int n) {
    return new SlotBatch(layout, n, dense, ids, labels,
        layout.slots() == 0 ? null : DistinctIds.of(ids, n * layout.slots()));
  }
}
