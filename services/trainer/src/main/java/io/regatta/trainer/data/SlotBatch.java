package io.regatta.trainer.data;

/**
 * A batch of examples in primitive arrays, row-major, filled by one reader thread and then handed to the model thread.
 * The arrays may be longer than {@code rows} needs; what lies behind is undefined.
 *
 * @param layout widths of an example
 * @param rows examples in the batch
 * @param dense float features, {@code [rows × layout.dense()]}
 * @param ids sparse ids, {@code [rows × layout.slots()]}
 * @param labels {@code [rows]}
 */
public record SlotBatch(Layout layout, int rows, float[] dense, long[] ids, float[] labels) {

  /** An empty batch with room for {@code rows} examples, which a {@link SlotSource} fills. */
  public static SlotBatch allocate(Layout layout, int rows) {
    return new SlotBatch(layout, rows, new float[rows * layout.dense()], new long[rows * layout.slots()],
        new float[rows]);
  }

  /** The first {@code n} examples, in the same arrays. */
  SlotBatch first(int n) {
    return n == rows ? this : new SlotBatch(layout, n, dense, ids, labels);
  }
}
