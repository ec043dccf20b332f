package io.regatta.core.shard;

import java.util.List;

/**
 * One trainer's (or one aggregator's) gradients of one step for one shard: the unit of application and of repetition.
 * It is applied whole or not at all.
 *
 * @param contributors whose gradients are inside, ordered by rank; one for a trainer, several for an aggregator, whose
 *     gradient is the weighted mean of theirs
 * @param step the step (from 0) that the gradient belongs to; in sync mode the round
 * @param version shard version that the gradient was computed on (from {@link Pulled#version}); staleness is measured
 *     against it
 * @param dense gradient of the shard's dense vector, or null if there is none in this push
 * @param sparse gradients of sparse rows; in geo mode deltas, as is {@code dense}
 */
public record Push(List<Contributor> contributors, long step, long version, float[] dense,
    List<SparseRows> sparse) {}
