package io.regatta.training.dataset;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.DataCursor;

/**
 * A batch of a {@link SlotDataset} with the distinct ids of its array of ids and the cursor after it. Belongs to the
 * model thread.
 */
public final class BatchWithIds extends Batch {

  private final NDArray ids;
  private final DistinctIds distinct;
  private final DataCursor after;

  /**
   * @param ids the array of {@code data} that holds ids; null if there is none
   * @param distinct of {@code ids}, row-major
   */
  BatchWithIds(NDManager manager, NDList data, NDList labels, int size, long done, long all, NDArray ids,
      DistinctIds distinct, DataCursor after) {
    super(manager, data, labels, size, Batchifier.STACK, Batchifier.STACK, done, all);
    this.ids = ids;
    this.distinct = distinct;
    this.after = after;
  }

  /** Returns a batch whose lines were all skipped as bad: no examples, but a position in the data. */
  static BatchWithIds empty(NDManager manager, long done, long all, DataCursor after) {
    return new BatchWithIds(manager, new NDList(), new NDList(), 0, done, all, null, null, after);
  }

  /** Returns the cursor from which {@link SlotDataset#resume} continues after this batch and all before it. */
  public DataCursor after() {
    return after;
  }

  /**
   * Returns the index of the distinct id at each id position, row by row; negative where there is none; empty without
   * slots.
   */
  public int[] positions() {
    return distinct == null ? new int[0] : distinct.position();
  }

  /** Returns the distinct ids to which {@link #positions} refer. */
  public long[] ids() {
    return distinct == null ? new long[0] : distinct.ids();
  }

  /** Returns the distinct ids of an array of this batch; null if they are not known. */
  public DistinctIds distinct(NDArray array) {
    return array == ids ? distinct : null;
  }
}
