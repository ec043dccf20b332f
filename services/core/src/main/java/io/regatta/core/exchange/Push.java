package io.regatta.core.exchange;

import io.regatta.core.dense.DenseValues;
import java.util.List;

/**
 * One trainer's (or one aggregator's) gradients of one step for one shard: which are repeated together. In sync
 * mode they are applied whole or not at all, in the others rows entry by entry and dense elements block by block.
 *
 * @param contributors whose gradients are inside, ordered by rank; one for a trainer, several for an aggregator, whose
 *     gradient is the weighted mean of theirs
 * @param step the step (from 0) that the gradient belongs to; in sync mode the round; {@link #SITTING_OUT} in a push
 *     without gradients
 * @param version shard version that the gradient was computed on (from {@link Pulled#version}); staleness is measured
 *     against it
 * @param dense gradient of the shard's dense vector, or null if there is none in this push; who takes the push in
 *     releases it when it needs it no longer
 * @param sparse gradients of sparse rows; in geo mode deltas, as is {@code dense}
 * @param finite the sender has looked through all elements and rows, and found nothing that is NaN or infinite: who takes the
 *     push in need not
 */
public record Push(List<Contributor> contributors, long step, long version, DenseValues dense,
    List<SparseRows> sparse, boolean finite) {

  /** A push whose values nobody has looked through. */
  public Push(List<Contributor> contributors, long step, long version, DenseValues dense, List<SparseRows> sparse) {
    this(contributors, step, version, dense, sparse, false);
  }

  /**
   * Step of an empty push that says: do not wait for my pushes until I register again. A trainer that stands in a
   * barrier sends it, so that the others' steps go on. It is acknowledged at once. Registering again, when all active
   * trainers sit out, puts all on the highest step among them.
   */
  public static final long SITTING_OUT = Long.MAX_VALUE;

  /** Nobody needs the gradients any more; see {@link DenseValues#release}. */
  public void release() {
    if (dense != null) {
      dense.release();
    }
  }

  /** Whether this push announces that its trainers sit out. */
  public boolean sitsOut() {
    return step == SITTING_OUT;
  }
}
