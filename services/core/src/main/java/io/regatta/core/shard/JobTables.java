package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.DenseVector;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.SparseTable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The parameters of one job on one shard: its part of the dense vector and its sparse rows. Owned by the shard. */
final class JobTables {

  private final String where;
  private final OptimizerSpec denseOptimizer;
  private final DensePartition partition;
  private final int shard;
  private final BlockPool pool;
  private final Map<String, SparseTable> sparse = new LinkedHashMap<>();
  /** Null until initialised. */
  private DenseVector dense;

  JobTables(JobSpec spec, int shard, BlockPool pool, String where) {
    this.where = where;
    this.pool = pool;
    this.shard = shard;
    partition = DensePartition.of(spec.model().dense(), spec.shards(), spec.minBlock());
    denseOptimizer = spec.model().denseOptimizer();
    for (SparseTableSpec t : spec.model().sparse()) {
      sparse.put(t.name(), new SparseTable(spec.model().seed(), t));
    }
    if (denseSize() == 0) {
      initialize(DenseMemory.of(new float[0]));
    }
  }

  /** Shard and job, for messages. */
  String where() {
    return where;
  }

  /** Of the shard. */
  BlockPool blocks() {
    return pool;
  }

  int denseSize() {
    return partition.sizeOf(shard);
  }

  /** Whether the dense vector has its first values; one of no elements always has. */
  boolean initialized() {
    return dense != null;
  }

  void initialize(DenseValues values) {
    try {
      dense = new DenseVector(values, denseOptimizer, pool);
    } catch (OutOfMemoryError e) { // of two large arrays: nothing else is lost
      throw new Overloaded("no memory for " + values.size() + " dense elements and their optimizer slots at " + where
          + "; give the server a larger heap, or use more shards");
    }
  }

  /** The dense vector as it is now; to be released. */
  DenseValues denseSnapshot() {
    return dense.snapshot();
  }

  SparseTable table(String name) {
    SparseTable t = sparse.get(name);
    if (t == null) {
      throw new InvalidInput("unknown sparse table '" + name + "' at " + where + ", which has " + sparse.keySet());
    }
    return t;
  }

  Iterable<SparseTable> sparseTables() {
    return sparse.values();
  }

  /** Rows in all sparse tables. */
  long rows() {
    long n = 0;
    for (SparseTable t : sparse.values()) {
      n += t.size();
    }
    return n;
  }

  Map<String, Long> rowsByTable() {
    Map<String, Long> rows = new LinkedHashMap<>();
    sparse.forEach((name, t) -> rows.put(name, t.size()));
    return rows;
  }

  /** One optimizer step of rows {@code [from .. to)}; {@code step} chooses the learning rate, {@code updates} ≥ 1. */
  void update(SparseRows r, int from, int to, long step, long updates) {
    SparseTable t = table(r.table());
    t.update(r.ids(), from, to, r.values(), (float) t.spec().optimizer().learningRate().at(step), updates);
  }

  /** Floats that the update of a dense element reads and writes, beside the gradient. */
  int denseWidth() {
    return 1 + Optimizer.of(denseOptimizer).slots();
  }

  /** The same of a block of the dense vector; its gradient begins at index 0. */
  void update(int block, float[] gradient, long step, long updates) {
    dense.update(block, gradient, (float) denseOptimizer.learningRate().at(step), updates);
  }

  /** Adds the deltas of rows {@code [from .. to)} (geo). */
  void add(SparseRows r, int from, int to) {
    table(r.table()).add(r.ids(), from, to, r.values());
  }

  /** Adds the deltas of a block of the dense vector (geo). */
  void add(int block, float[] delta) {
    dense.add(block, delta);
  }

  /** What of the dense variables lies here; nothing before it is initialised. */
  List<DensePartition.Part> denseParts() {
    return dense == null ? List.of() : partition.partsOf(shard);
  }

  /** Hash of {@code n} elements of a part, from its element {@code from} on. */
  long digest(DensePartition.Part part, int from, int n) {
    return dense.digest(part.variable(), part.variableOffset() + from, part.shardOffset() + from, n);
  }
}
