package io.regatta.core.exchange;

import io.regatta.core.dense.DenseValues;
import java.util.List;

/**
 * The values that answer a pull, isolated from later updates. Outside of rounds, rows of a pull that is too large for
 * one time slice may be of later moments than {@code version}. Each row is of one moment.
 *
 * @param version updates applied by the shard at that moment
 * @param dense the shard's dense vector, or null if not requested: at the shard a snapshot, which the sender releases;
 *     at the trainer {@link Pull#into}, or memory of its own
 * @param sparse one entry per {@link Pull#sparse}, in that order, ids in the order requested; after them, for {@link
 *     Pull#changed}, one entry per table with changed rows
 * @param clockLead clocks that the asking trainer was ahead of the slowest active one when it got its answer
 */
public record Pulled(long version, DenseValues dense, List<SparseRows> sparse, long clockLead) {

  /** Creates values for a trainer that is not ahead of any other. */
  public Pulled(long version, DenseValues dense, List<SparseRows> sparse) {
    this(version, dense, sparse, 0);
  }

  /** Releases the values, because they will not be read. */
  public void release() {
    if (dense != null) {
      dense.release();
    }
  }
}
