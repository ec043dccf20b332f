package io.regatta.core.shard;

import java.util.List;

/**
 * Wish for values. Waits at the shard until the dense vector is initialised and
 * in sync mode: rounds 0 .. minStep-1 have closed; in SSP mode: no active trainer's clock is below
 * minStep - stalenessBound. Other modes answer at once.
 *
 * @param rank who asks
 * @param minStep the step (from 0) that the values are for, equal to the number of pushes this trainer has made
 * @param dense whether the shard's dense vector is wanted
 * @param sparse rows wanted; unknown ones are born
 * @param changed geo only: also return the rows of every table that changed since this rank's last such pull
 */
public record Pull(int rank, long minStep, boolean dense, List<SparseIds> sparse, boolean changed) {}
