package io.regatta.core.exchange;

import io.regatta.core.model.ModelSpec;

/**
 * What every trainer of a job tells every shard when it registers. The first one creates the job's tables; later ones
 * must say the same, or are refused.
 *
 * @param job name, unique in the cluster
 * @param mode exchange mode
 * @param trainers world size announced
 * @param stalenessBound clocks that a trainer may be ahead of the slowest ({@code SSP} only)
 * @param nanPolicy treatment of NaN and infinite gradients
 * @param shards number of shards in the shard map
 * @param minBlock smallest dense block, elements
 * @param model tables
 */
public record JobSpec(String job, Mode mode, int trainers, int stalenessBound, NanPolicy nanPolicy, int shards,
    int minBlock, ModelSpec model) {}
