package io.regatta.core.exchange;

import io.regatta.core.dense.DenseValues;
import java.util.List;

/**
 * The gradients of one trainer (or one aggregator) of one step for one shard, which are repeated together. In a
 * mode with rounds they are applied whole or not at all. In the others rows are applied entry by entry, and dense
 * elements block by block.
 *
 * @param contributors trainers whose gradients are inside, ordered by rank: one for a trainer, several for an
 *     aggregator, whose gradient is the weighted mean of theirs
 * @param step the step (from 0) that the gradient belongs to, and its round where there are rounds; {@link #SITTING_OUT} in a push
 *     without gradients
 * @param version shard version that the gradient was computed on (from {@link Pulled#version}); staleness is measured
 *     against it
 * @param dense gradient of the shard's dense vector, or null if there is none in this push; the receiver releases it as
 *     soon as it does not need it
 * @param sparse gradients of sparse rows; differences, as is {@code dense}, where the mode pushes those
 * @param finite true if the sender has checked that no element or row is NaN or infinite, so that the receiver need not
 */
public record Push(List<Contributor> contributors, long step, long version, DenseValues dense,
    List<SparseRows> sparse, boolean finite) {

  /** Creates a push whose values have not been checked. */
  public Push(List<Contributor> contributors, long step, long version, DenseValues dense, List<SparseRows> sparse) {
    this(contributors, step, version, dense, sparse, false);
  }

  /**
   * Step of an empty push that asks not to wait for the trainer's pushes until it registers again. A trainer that
   * stands in a barrier sends it, so that the others' steps continue. It is acknowledged at once. If all active
   * trainers sit out and one registers again, all are put on the highest step among them.
   */
  public static final long SITTING_OUT = Long.MAX_VALUE;

  /** Releases the gradients, because they are not needed any more; see {@link DenseValues#release}. */
  public void release() {
    if (dense != null) {
      dense.release();
    }
  }

  /** Returns true if this push announces that its trainers sit out. */
  public boolean sitsOut() {
    return step == SITTING_OUT;
  }
}
