package io.regatta.core.exchange;

import io.regatta.core.model.DensePartition;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.Sharding;

/**
 * The specification of a job that every trainer sends to every shard when it registers. The first one creates the job's
 * tables; later ones must be the same, or are refused.
 *
 * @param job name, unique in the cluster
 * @param mode exchange mode
 * @param trainers world size announced
 * @param stalenessBound clocks that a trainer may be ahead of the slowest, where the mode has such a bound
 * @param nanPolicy treatment of NaN and infinite gradients
 * @param sharding which shards of the shard map hold what
 * @param minBlock smallest dense block, elements; not used if the optimizer needs whole tensors
 * @param model tables
 */
public record JobSpec(String job, Mode mode, int trainers, int stalenessBound, NanPolicy nanPolicy,
    Sharding sharding, int minBlock, ModelSpec model) {

  /** Creates a specification of a job whose shards all hold both dense parts and sparse rows. */
  public JobSpec(String job, Mode mode, int trainers, int stalenessBound, NanPolicy nanPolicy, int shards, int minBlock,
      ModelSpec model) {
    this(job, mode, trainers, stalenessBound, nanPolicy, Sharding.common(shards), minBlock, model);
  }

  /** Returns the same job without what its mode and its model do not use: jobs that train alike are equal then. */
  public JobSpec used() {
    return new JobSpec(job, mode, trainers, mode.hasStalenessBound() ? stalenessBound : 0, nanPolicy,
        sharding.isApart() ? sharding : Sharding.common(shards()), usedMinBlock(), model.used());
  }

  /**
   * Returns true if both jobs train alike, that is, if {@link #used} of both is equal. Compares table by table, so that
   * a job of many tables is not copied.
   */
  public boolean isUsedAs(JobSpec other) {
    return without(ModelSpec.NONE).used().equals(other.without(ModelSpec.NONE).used()) && model.isUsedAs(other.model);
  }

  private JobSpec without(ModelSpec instead) {
    return new JobSpec(job, mode, trainers, stalenessBound, nanPolicy, sharding, usedMinBlock(), instead);
  }

  private int usedMinBlock() {
    return model.denseOptimizer().needsWholeTensors() ? 0 : minBlock;
  }

  /** Returns the partition of the dense variables over the shards. */
  public DensePartition partition() {
    return model.denseOptimizer().needsWholeTensors() ? DensePartition.whole(model.dense(), sharding)
        : DensePartition.of(model.dense(), sharding, minBlock);
  }

  /** Returns the number of shards in the shard map. */
  public int shards() {
    return sharding.shards();
  }
}
