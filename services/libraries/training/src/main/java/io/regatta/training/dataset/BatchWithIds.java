package io.regatta.training.dataset;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import ai.djl.translate.Batchifier;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.DataCursor;

/**
 * A batch of a {@link SlotDataset} that knows the distinct ids in its array of ids, and where reading goes on behind it.
 * Belongs to the model thread.
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

  /** One whose lines were all left out as bad: nothing to train on, but a place in the data. */
  static BatchWithIds empty(NDManager manager, long done, long all, DataCursor after) {
    return new BatchWithIds(manager, new NDList(), new NDList(), 0, done, all, null, null, after);
  }

  /** What {@link SlotDataset#resume} takes, for a run that has trained on this batch and on those before it. */
  public DataCursor after() {
    return after;
  }

  /** For each place for an id, row by row, the number of the distinct id there, negative if there is none; empty without slots. */
  public int[] positions() {
    return distinct == null ? new int[0] : distinct.position();
  }

  /** The distinct ids that {@link #positions} number. */
  public long[] ids() {
    return distinct == null ? new long[0] : distinct.ids();
  }

  /** The distinct ids of an array of this batch; null if they are not known. */
  public DistinctIds distinct(NDArray array) {
    return array == ids ? distinct : null;
  }
}
