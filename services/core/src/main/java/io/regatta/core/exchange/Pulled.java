package io.regatta.core.exchange;

import io.regatta.core.dense.DenseValues;
import java.util.List;

/**
 * Values, isolated from later updates. Outside of rounds, rows of a pull too large for one turn may be of later moments than
 * {@code version}, each of one.
 *
 * @param version updates applied by the shard at that moment
 * @param dense the shard's dense vector, or null if not asked for: at the shard a snapshot, which who sends it releases; at
 *     the trainer {@link Pull#into}, or memory of its own
 * @param sparse one entry per {@link Pull#sparse}, in that order, ids in the order asked; after them, for
 *     {@link Pull#changed}, one entry per table with changed rows
 * @param clockLead clocks that the asking trainer was ahead of the slowest active one when it got its answer
 */
public record Pulled(long version, DenseValues dense, List<SparseRows> sparse, long clockLead) {

  /** Values for somebody who is not ahead of anybody. */
  public Pulled(long version, DenseValues dense, List<SparseRows> sparse) {
    this(version, dense, sparse, 0);
  }

  /** Nobody will read these values. */
  public void release() {
    if (dense != null) {
      dense.release();
    }
  }
}
