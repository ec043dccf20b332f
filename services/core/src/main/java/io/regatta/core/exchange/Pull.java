package io.regatta.core.exchange;

import io.regatta.core.dense.DenseSlice;
import java.util.List;

/**
 * Wish for values. Waits at the shard until the dense vector is initialised and
 * in sync mode: rounds 0 .. minStep-1 have closed; in SSP mode: no active trainer's clock is below
 * minStep - stalenessBound. Other modes answer at once.
 *
 * @param rank who asks
 * @param minStep the step (from 0) that the values are for, equal to the number of pushes this trainer has made; 0 waits
 *     for nobody
 * @param dense whether the shard's dense vector is wanted
 * @param into where the trainer wants it, or null for memory of the answer's own; the trainer's end of the link writes it
 *     there as it comes, and it does not travel. A failed pull may have written a part of it
 * @param sparse rows wanted
 * @param changed geo only: also return the rows of every table that changed since this rank's last such pull
 * @param readOnly the values are for evaluation, not for a step: an id without a row is answered with the values that
 *     its row would be born with, and gets none. Otherwise, in training, its row is born. A read-only pull changes
 *     nothing on the shard, so {@code changed}, which is forgotten once told, cannot be part of it
 */
public record Pull(int rank, long minStep, boolean dense, DenseSlice into, List<SparseIds> sparse, boolean changed,
    boolean readOnly) {

  /** A pull for a training step, into memory of its own. */
  public Pull(int rank, long minStep, boolean dense, List<SparseIds> sparse, boolean changed) {
    this(rank, minStep, dense, sparse, changed, false);
  }

  /** A pull into memory of its own. */
  public Pull(int rank, long minStep, boolean dense, List<SparseIds> sparse, boolean changed, boolean readOnly) {
    this(rank, minStep, dense, null, sparse, changed, readOnly);
  }
}
