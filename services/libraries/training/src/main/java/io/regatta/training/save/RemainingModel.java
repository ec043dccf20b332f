package io.regatta.training.save;

import io.regatta.snapshot.LostShard;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The rest of a model when shards are lost: all dense parameters, and the rows of the remaining shards. Immutable.
 *
 * @param lost the lost shards; none: the model is complete
 * @param dense all dense values: those of remaining shards as they are now, those of lost ones as a trainer pulled them
 *     last
 */
public record RemainingModel(List<LostShard> lost, float[] dense) {

  /** Returns true if no rows are missing. */
  public boolean isWhole() {
    return lost.stream().allMatch(shard -> shard.missingTables().isEmpty());
  }

  /** Returns the indices of the lost shards. */
  Set<Integer> shards() {
    return lost.stream().map(LostShard::shard).collect(Collectors.toSet());
  }
}
