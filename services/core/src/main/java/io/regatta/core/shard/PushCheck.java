package io.regatta.core.shard;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.table.SparseTable;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Checks what a request says about tensors against a job's tables: known tables, lengths, owners, distinct ids, finite
 * values. Reads only. Owned by the shard's thread.
 */
final class PushCheck {

  private final JobTables tables;
  private final int shard;
  private final int shards;
  private final String where;

  PushCheck(JobTables tables, int shard, int shards, String where) {
    this.tables = tables;
    this.shard = shard;
    this.shards = shards;
    this.where = where;
  }

  /** Shapes and ids of a push; {@code who} as in {@code push of step 3 of trainer 1}. */
  void shapes(Push push, String who) {
    if (push.dense() != null) {
      denseLength(push.dense(), who);
    }
    Set<String> seen = new HashSet<>();
    for (SparseRows r : push.sparse()) {
      SparseTable t = tables.table(r.table());
      if (!seen.add(r.table())) {
        throw new InvalidInput(who + " names table '" + r.table() + "' twice at " + where + "; merge its rows");
      }
      int dim = t.spec().dim();
      if (r.values().length != (long) r.ids().length * dim) {
        throw new InvalidInput(who + " has " + r.values().length + " values for " + r.ids().length + " rows of table '"
            + r.table() + "' at " + where + ", whose rows have " + dim + " values");
      }
      owned(r.table(), r.ids(), who);
      distinct(r.table(), r.ids(), who);
    }
  }

  void denseLength(float[] dense, String who) {
    if (dense.length != tables.denseSize()) {
      throw new InvalidInput(who + " has " + dense.length + " dense elements; the dense vector at " + where + " has "
          + tables.denseSize());
    }
  }

  /** Where the first NaN or infinite value is, in words, or null. */
  String nonFinite(Push push) {
    int i = push.dense() == null ? -1 : NonFinite.find(push.dense());
    if (i >= 0) {
      return "dense element " + i + " is " + push.dense()[i];
    }
    for (SparseRows r : push.sparse()) {
      int k = NonFinite.find(r.values());
      if (k >= 0) {
        return "row of id " + r.ids()[k / (r.values().length / r.ids().length)] + " of table '" + r.table()
            + "' holds " + r.values()[k];
      }
    }
    return null;
  }

  /** Tables and owners of the ids of a pull. */
  void wish(List<SparseIds> wish, String who) {
    for (SparseIds s : wish) {
      tables.table(s.table());
      owned(s.table(), s.ids(), who);
    }
  }

  private void owned(String table, long[] ids, String who) {
    for (long id : ids) {
      int owner = SparsePartition.shardOf(id, shards);
      if (owner != shard) {
        throw new InvalidInput(who + " holds id " + id + " of table '" + table + "' at " + where
            + ", but that id belongs to shard " + owner + " of " + shards);
      }
    }
  }

  private void distinct(String table, long[] ids, String who) {
    boolean ascending = true;
    for (int i = 1; i < ids.length && ascending; i++) {
      ascending = ids[i - 1] < ids[i];
    }
    if (ascending) {
      return;
    }
    LongOpenHashSet seen = new LongOpenHashSet(ids.length);
    for (long id : ids) {
      if (!seen.add(id)) {
        throw new InvalidInput(who + " holds id " + id + " of table '" + table + "' twice at " + where
            + "; sum its gradients first");
      }
    }
  }
}
