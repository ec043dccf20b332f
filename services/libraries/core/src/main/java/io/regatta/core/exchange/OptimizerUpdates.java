package io.regatta.core.exchange;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The numbers of updates that the optimizers of a job have made, each since its slots were fresh. Adam's bias
 * correction depends on them. They differ from the shard's version in a job that began with another's values ({@code
 * init_from}) and optimizers of its own. Immutable.
 *
 * @param dense updates of the optimizer of the dense parameters
 * @param tables updates of the optimizers of the sparse tables, by name
 */
public record OptimizerUpdates(long dense, Map<String, Long> tables) {

  /** Checks the counts and takes a copy of the map. */
  public OptimizerUpdates {
    if (dense < 0 || tables.values().stream().anyMatch(n -> n < 0)) {
      throw new IllegalArgumentException("negative number of updates: " + dense + " of the dense parameters, " + tables);
    }
    tables = Map.copyOf(tables);
  }

  /** Returns the counts of a job all of whose optimizers have made every update. */
  public static OptimizerUpdates all(long updates, Collection<String> tables) {
    Map<String, Long> each = new LinkedHashMap<>();
    tables.forEach(name -> each.put(name, updates));
    return new OptimizerUpdates(updates, each);
  }

  /** Returns the count of a table; 0 for one that is not known. */
  public long table(String name) {
    return tables.getOrDefault(name, 0L);
  }

  /** Returns the higher of each count; shards of one job may differ by the pushes that are on their way. */
  public OptimizerUpdates max(OptimizerUpdates other) {
    Map<String, Long> each = new LinkedHashMap<>(tables);
    other.tables.forEach((name, n) -> each.merge(name, n, Math::max));
    return new OptimizerUpdates(Math.max(dense, other.dense), each);
  }
}
