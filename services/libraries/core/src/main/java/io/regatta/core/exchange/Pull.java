package io.regatta.core.exchange;

import io.regatta.core.dense.DenseSlice;
import java.util.List;

/**
 * A request for values. It waits at the shard until the dense vector is initialised. With rounds it also waits until
 * rounds 0 .. minStep-1 have closed. With a staleness bound it waits until no clock of a trainer that takes part is
 * below minStep - stalenessBound. Without rounds it waits for the trainer's own earlier pushes. In all modes it waits
 * for memory for the rows of its answer.
 *
 * @param rank of the trainer that asks
 * @param minStep the step (from 0) that the values are for, equal to the number of pushes this trainer has made; 0
 *     waits for no other trainer
 * @param dense whether the shard's dense vector is requested
 * @param into memory of the trainer that receives it, or null for memory of the answer's own. The trainer's end of the
 *     link writes it there as it arrives; the address is not sent. A failed pull may have written a part of it
 * @param sparse rows requested
 * @param changed where differences are pushed: also return the rows of every table that changed since this rank's last such pull
 * @param readOnly the values are for evaluation, not for a step. An id without a row is answered with the values that
 *     its row would be created with, and the row is not created; in training it is. A read-only pull changes nothing on
 *     the shard, so it cannot include {@code changed}, which is forgotten once sent
 */
public record Pull(int rank, long minStep, boolean dense, DenseSlice into, List<SparseIds> sparse, boolean changed,
    boolean readOnly) {

  /** Creates a pull for a training step, into memory of its own. */
  public Pull(int rank, long minStep, boolean dense, List<SparseIds> sparse, boolean changed) {
    this(rank, minStep, dense, sparse, changed, false);
  }

  /** Creates a pull into memory of its own. */
  public Pull(int rank, long minStep, boolean dense, List<SparseIds> sparse, boolean changed, boolean readOnly) {
    this(rank, minStep, dense, null, sparse, changed, readOnly);
  }
}
