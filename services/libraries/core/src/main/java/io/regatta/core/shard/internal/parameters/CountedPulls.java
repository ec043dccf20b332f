package io.regatta.core.shard.internal.parameters;

import io.regatta.core.table.SparseTable;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongPredicate;

/**
 * The rows that one trainer's recent pulls have counted for, in tables that admit a row after some pulls outside of
 * rounds. A step counts once for a row, even if its pull is repeated, for example over a new stream. Holds ids that are
 * not admitted yet, of the latest {@value #STEPS} steps. Owned by the shard's thread.
 */
public final class CountedPulls {

  /** Steps that are remembered: those of a trainer's replicas, and a pull ahead, are a few apart. */
  public static final int STEPS = 4;

  private static final int FEW_IDS = 1 << 16;

  /** Step → table → ids. */
  private final TreeMap<Long, Map<String, IdSet>> steps = new TreeMap<>();

  /**
   * Returns a predicate that is true for an id for which a pull of that step still counts, and remembers it; null if
   * every pull counts.
   *
   * @param ids number of ids that the pull names of the table
   */
  public LongPredicate of(long step, SparseTable table, int ids) {
    if (!table.countsPulls()) {
      return null;
    }
    if (steps.size() == STEPS && step < steps.firstKey()) {
      return id -> false; // so old that it is a repetition
    }
    Map<String, IdSet> tables = steps.computeIfAbsent(step, s -> new HashMap<>());
    for (Iterator<Long> oldest = steps.keySet().iterator(); steps.size() > STEPS; oldest.remove()) {
      oldest.next();
    }
    return tables.computeIfAbsent(table.spec().name(), t -> ids > FEW_IDS ? IdSet.forMany() : IdSet.forFew())::add;
  }

  public void clear() {
    steps.clear();
  }
}
