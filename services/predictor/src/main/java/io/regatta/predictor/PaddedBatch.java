package io.regatta.predictor;

import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.util.Arrays;

/**
 * Sizes of the batches that a model computes: a power of two, or one and a half times a power of two, up to 256. Each
 * size has a graph in the engine, so there must be few. Larger batches stay as they are. Stateless.
 */
final class PaddedBatch {

  private static final int PADDED_MAX = 256;

  private PaddedBatch() {}

  /** Returns the size with which a batch of this many examples is computed. */
  static int size(int rows) {
    if (rows > PADDED_MAX || rows < 4) {
      return rows;
    }
    int below = Integer.highestOneBit(rows);
    return rows == below ? below : rows <= below + below / 2 ? below + below / 2 : 2 * below;
  }

  /** Returns the batch with empty examples after its own, in the same arrays if they have room; else in others. */
  static SlotBatch of(SlotBatch batch) {
    int rows = size(batch.rows());
    if (rows == batch.rows()) {
      return batch;
    }
    Layout layout = batch.layout();
    boolean room = batch.dense().length >= rows * layout.dense() && batch.ids().length >= rows * layout.columns();
    SlotBatch padded = room ? batch.first(rows) : SlotBatch.allocate(layout, rows);
    if (!room) {
      for (int row = 0; row < batch.rows(); row++) {
        batch.copy(row, padded, row);
      }
    }
    Arrays.fill(padded.dense(), batch.rows() * layout.dense(), rows * layout.dense(), 0);
    Arrays.fill(padded.ids(), batch.rows() * layout.columns(), rows * layout.columns(), DistinctIds.PADDING);
    if (padded.values() != null) {
      Arrays.fill(padded.values(), batch.rows() * layout.columns(), rows * layout.columns(), 0);
    }
    return padded;
  }
}
