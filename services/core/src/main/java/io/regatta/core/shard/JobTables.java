package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseState;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.DenseVector;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableGroup;
import it.unimi.dsi.fastutil.objects.Object2LongOpenHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/** The parameters of one job on one shard: its part of the dense vector and its sparse rows. Owned by the shard. */
final class JobTables {

  private final String where;
  private final OptimizerSpec denseOptimizer;
  private final DensePartition partition;
  private final int shard;
  private final BlockPool pool;
  private final Map<String, SparseTable> sparse = new LinkedHashMap<>();
  private final TableGroup group;
  private final Capacity capacity;
  private final HeapBudget memory;
  /** Of the budget, for the dense vector and its slots. */
  private long denseBytes;
  /** Version at which the slots of the dense vector were fresh, and those of each table. */
  private long denseSince;
  private final Object2LongOpenHashMap<String> since = new Object2LongOpenHashMap<>();
  /** Null until initialised. */
  private DenseVector dense;

  JobTables(JobSpec spec, int shard, BlockPool pool, String where, ParameterShard.Limits limits,
      LongSupplier monotonicMillis) {
    this.where = where;
    this.pool = pool;
    this.shard = shard;
    partition = DensePartition.of(spec.model().dense(), spec.sharding(), spec.minBlock());
    denseOptimizer = spec.model().denseOptimizer();
    denseBytes = (long) denseSize() * Float.BYTES * denseWidth();
    group = new TableGroup(spec.model().sparse().size(), limits.evict(), monotonicMillis);
    for (SparseTableSpec t : spec.model().sparse()) {
      sparse.put(t.name(), new SparseTable(spec.model().seed(), t, spec.mode() == Mode.SYNC, group));
    }
    memory = limits.memory().parameters();
    capacity = new Capacity(group, sparse.values(), limits);
    takeMemory();
    if (denseSize() == 0) {
      initialize(DenseMemory.of(new float[0]));
    }
  }

  /** Before anything is allocated: refuses tables of which the heap could not hold a row, and a dense vector without room. */
  private void takeMemory() {
    for (SparseTable t : sparse.values()) {
      if (t.rowBytes() > memory.limit()) {
        throw noMemory("a row of sparse table '" + t.spec().name() + "' with " + t.layout().width() + " floats", t.rowBytes());
      }
    }
    if (!memory.take(denseBytes)) {
      throw noMemory("the dense vector's " + denseSize() + " elements with " + (denseWidth() - 1) + " optimizer slots each",
          denseBytes);
    }
  }

  private Overloaded noMemory(String what, long bytes) {
    return new Overloaded(where + " refused: " + what + " takes " + bytes + " bytes, and " + memory.free() + " of "
        + memory.limit() + " for parameters are free: " + HeapBudget.inWords()
        + ". Give the server a larger heap (-Xmx), or use more shards");
  }

  /** Gives back what this has taken of the heap's budget; the parameters are used no more. */
  void close() {
    capacity.close();
    memory.giveBack(denseBytes);
    denseBytes = 0;
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
    dense = new DenseVector(values, denseOptimizer, pool);
  }

  /** Goes on from saved values and slots; see {@link DenseVector}. */
  void restore(float[][] values, float[][][] slots) {
    dense = new DenseVector(denseSize(), values, slots, denseOptimizer, pool);
  }

  /**
   * The optimizers have made so many updates at this version of the shard. One whose slots are fresh counts from there: a high count
   * would switch the bias correction of Adam off.
   */
  void restore(long version, OptimizerUpdates updates) {
    denseSince = version - updates.dense();
    sparse.keySet().forEach(name -> since.put(name, version - updates.table(name)));
  }

  /** Returns the updates that the optimizers have made at this version, each since its slots were fresh. */
  OptimizerUpdates updates(long version) {
    Map<String, Long> tables = new LinkedHashMap<>();
    sparse.keySet().forEach(name -> tables.put(name, version - since.getLong(name)));
    return new OptimizerUpdates(version - denseSince, tables);
  }

  /** The dense vector with its slots as it is now; to be released. */
  DenseState denseState() {
    return dense.state();
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

  /** Returns the names of the sparse tables. */
  Set<String> names() {
    return sparse.keySet();
  }

  Iterable<SparseTable> sparseTables() {
    return sparse.values();
  }

  /** Rows in all sparse tables. */
  long rows() {
    return group.rows();
  }

  /** Rows born in all sparse tables. */
  long births() {
    return group.created();
  }

  /** How many rows there may be, all sparse tables together. */
  Capacity capacity() {
    return capacity;
  }

  Map<String, TableCounts> countsByTable() {
    Map<String, TableCounts> counts = new LinkedHashMap<>();
    sparse.forEach((name, t) -> counts.put(name, t.counts()));
    return counts;
  }

  Map<String, Long> rowsByTable() {
    Map<String, Long> rows = new LinkedHashMap<>();
    sparse.forEach((name, t) -> rows.put(name, t.size()));
    return rows;
  }

  /**
   * A training pull of {@code ids[from .. to)}; unknown rows are born, and make others go if there is no room.
   *
   * @param counts see {@link SparseTable#pull(long[], int, int, float[], LongPredicate)}
   * @return what it cost, as {@link Turns#FLOATS} counts
   */
  long pull(SparseTable t, long[] ids, int from, int to, float[] out, LongPredicate counts) {
    long room = capacity.makeRoom(to - from, t.rowBytes());
    t.pull(ids, from, to, out, counts);
    return room + Turns.rowsCost(to - from, t.spec().dim());
  }

  /**
   * One optimizer step of rows {@code [from .. to)}.
   *
   * @param step that chooses the learning rate
   * @param version of the shard with this update
   *
   * @return what it cost, as {@link Turns#FLOATS} counts
   */
  long update(SparseRows r, int from, int to, long step, long version) {
    SparseTable t = table(r.table());
    long room = capacity.makeRoom(to - from, t.rowBytes());
    t.update(r.ids(), from, to, r.values(), (float) t.spec().optimizer().learningRate().at(step),
        version - since.getLong(r.table()));
    return room + Turns.rowsCost(to - from, r.dim());
  }

  /** Floats that the update of a dense element reads and writes, beside the gradient. */
  int denseWidth() {
    return 1 + Optimizer.of(denseOptimizer).slots();
  }

  /** The same of a block of the dense vector; its gradient begins at index 0. */
  void update(int block, float[] gradient, long step, long version) {
    dense.update(block, gradient, (float) denseOptimizer.learningRate().at(step), version - denseSince);
  }

  /** Adds the deltas of rows {@code [from .. to)} (geo); returns what it cost. */
  long add(SparseRows r, int from, int to) {
    table(r.table()).add(r.ids(), from, to, r.values());
    return Turns.rowsCost(to - from, r.dim());
  }

  /** Adds the deltas of a block of the dense vector (geo). */
  void add(int block, float[] delta) {
    dense.add(block, delta);
  }

  /** Sets the dense vector's values; its optimizer's slots stay. */
  void assign(DenseValues values) {
    dense.assign(values);
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
