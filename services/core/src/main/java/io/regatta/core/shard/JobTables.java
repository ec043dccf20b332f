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
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.GroupSnapshot;
import io.regatta.core.table.RowLayout;
import io.regatta.core.table.SparseTable;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableGroup;
import io.regatta.core.table.TableSnapshot;
import it.unimi.dsi.fastutil.objects.Object2IntOpenHashMap;
import it.unimi.dsi.fastutil.objects.Object2LongMap;
import it.unimi.dsi.fastutil.objects.Object2LongMaps;
import it.unimi.dsi.fastutil.objects.Object2LongOpenHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * The parameters of one job on one shard: its part of the dense vector and its sparse rows. A sparse table is created when its rows
 * are first asked for, so that a job of many tables begins in one turn. Owned by the shard.
 */
final class JobTables {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** What creating a table costs, in floats: 1 to 2 µs. */
  static final long CREATED_FLOATS = 2000;

  private final String where;
  private final OptimizerSpec denseOptimizer;
  private final DensePartition partition;
  private final int shard;
  private final BlockPool pool;
  private final long seed;
  private final boolean rounds;
  /** Of all tables, in the order of the model. */
  private final List<SparseTableSpec> specs;
  /** Place of each table in the model. */
  private final Object2IntOpenHashMap<String> numbers;
  /** By place in the model; null: nobody has asked for rows of it. */
  private final SparseTable[] sparse;
  /** Cost of the tables created since somebody accounted for them. */
  private long unpaid;
  private final TableGroup group;
  private final Capacity capacity;
  private final HeapBudget memory;
  /** Of the budget, for the dense vector and its slots. */
  private long denseBytes;
  /** Version at which the slots of the dense vector were fresh, and those of each table; 0 for those that are not named. */
  private long denseSince;
  /** Replaced as a whole: snapshots count from it on other threads. */
  private Object2LongMap<String> since = Object2LongMaps.emptyMap();
  /** Null until initialised. */
  private DenseVector dense;

  JobTables(JobSpec spec, int shard, BlockPool pool, String where, ParameterShard.Limits limits,
      Clock clock) {
    this.where = where;
    this.pool = pool;
    this.shard = shard;
    partition = DensePartition.of(spec.model().dense(), spec.sharding(), spec.minBlock());
    denseOptimizer = spec.model().denseOptimizer();
    denseBytes = (long) denseSize() * Float.BYTES * denseWidth();
    seed = spec.model().seed();
    rounds = spec.mode() == Mode.SYNC;
    specs = spec.model().sparse();
    sparse = new SparseTable[specs.size()];
    numbers = new Object2IntOpenHashMap<>(specs.size());
    numbers.defaultReturnValue(-1);
    group = new TableGroup(specs.size(), limits.evict(), () -> clock.nanos() / NANOS_PER_MILLI);
    memory = limits.memory().parameters();
    long widest = 1;
    boolean tracked = false;
    for (SparseTableSpec t : specs) {
      numbers.put(t.name(), numbers.size());
      RowLayout layout = RowLayout.of(t);
      tracked |= layout.tracked();
      widest = Math.max(widest, checkedRowBytes(t, layout));
    }
    capacity = new Capacity(group, widest, tracked, limits);
    takeMemory();
    if (denseSize() == 0) {
      initialize(DenseMemory.of(new float[0]));
    }
  }

  /** Returns the bytes of a row, unless the heap could not hold one. */
  private long checkedRowBytes(SparseTableSpec table, RowLayout layout) {
    long bytes = SparseTable.rowBytes(layout);
    if (bytes > memory.limit()) {
      throw noMemory("a row of sparse table '" + table.name() + "' with " + layout.width() + " floats", bytes);
    }
    return bytes;
  }

  /** Before anything is allocated: refuses a dense vector without room. */
  private void takeMemory() {
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
    Object2LongMap<String> from = new Object2LongOpenHashMap<>(specs.size());
    specs.forEach(t -> from.put(t.name(), version - updates.table(t.name())));
    since = from;
  }

  /**
   * Returns what counts the updates that the optimizers have made at this version, each since its slots were fresh: table by table,
   * so not before somebody asks, on any thread.
   */
  Supplier<OptimizerUpdates> updates(long version) {
    Object2LongMap<String> from = since;
    long dense = version - denseSince;
    return () -> {
      Map<String, Long> tables = new LinkedHashMap<>();
      specs.forEach(t -> tables.put(t.name(), version - from.getLong(t.name())));
      return new OptimizerUpdates(dense, tables);
    };
  }

  /** The dense vector with its slots as it is now; to be released. */
  DenseState denseState() {
    return dense.state();
  }

  /** The dense vector as it is now; to be released. */
  DenseValues denseSnapshot() {
    return dense.snapshot();
  }

  /** Returns a table, which is created if nobody has asked for it before. */
  SparseTable table(String name) {
    int number = number(name);
    SparseTable there = sparse[number];
    if (there != null) {
      return there;
    }
    unpaid += CREATED_FLOATS;
    sparse[number] = new SparseTable(seed, specs.get(number), rounds, group, number);
    return sparse[number];
  }

  /** Returns the names of the sparse tables. */
  Set<String> names() {
    return numbers.keySet();
  }

  private int number(String table) {
    int number = numbers.getInt(table);
    if (number < 0) {
      throw new InvalidInput("unknown sparse table '" + table + "' at " + where + ", which has "
          + specs.stream().map(SparseTableSpec::name).toList());
    }
    return number;
  }

  /** Returns what a table is made of; does not create it. */
  SparseTableSpec spec(String table) {
    return specs.get(number(table));
  }

  /** Returns the bytes that a row of a table takes; does not create the table. */
  long rowBytes(String table) {
    return SparseTable.rowBytes(RowLayout.of(spec(table)));
  }

  /** Returns how many of {@code ids[from .. to)} have no row yet; does not create the table. */
  int missing(String table, long[] ids, int from, int to) {
    SparseTable there = sparse[number(table)];
    return there == null ? to - from : there.missing(ids, from, to);
  }

  /** Returns the number of sparse tables of the model. */
  int count() {
    return specs.size();
  }

  /** Returns what the table at a place in the model is made of. */
  SparseTableSpec spec(int number) {
    return specs.get(number);
  }

  /** Returns the table at a place in the model; null: it has not been created. */
  SparseTable created(int number) {
    return sparse[number];
  }

  /** Returns the tables that have been created, in the order of the model; others may be created during a walk. */
  Iterable<SparseTable> sparseTables() {
    return () -> new Iterator<>() {
      private int next;

      @Override
      public boolean hasNext() {
        while (next < sparse.length && sparse[next] == null) {
          next++;
        }
        return next < sparse.length;
      }

      @Override
      public SparseTable next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        return sparse[next++];
      }
    };
  }

  /** Begins a snapshot of all tables as they are now. */
  GroupSnapshot snapshot(TableSnapshot.Scope scope, long keptMax) {
    return GroupSnapshot.begin(group, scope, keptMax);
  }

  /** Returns whether the tables note what changes, for a delta. */
  boolean notesChanges() {
    return group.notes();
  }

  private long takeUnpaid() {
    long cost = unpaid;
    unpaid = 0;
    return cost;
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
    for (int i = 0; i < sparse.length; i++) {
      counts.put(specs.get(i).name(), sparse[i] == null ? TableCounts.NONE : sparse[i].counts());
    }
    return counts;
  }

  Map<String, Long> rowsByTable() {
    Map<String, Long> rows = new LinkedHashMap<>();
    for (int i = 0; i < sparse.length; i++) {
      rows.put(specs.get(i).name(), sparse[i] == null ? 0 : sparse[i].size());
    }
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
    return room + takeUnpaid() + Turns.rowsCost(to - from, t.spec().dim());
  }

  /** Copies the values of {@code ids[from .. to)}, as {@link SparseTable#read(long[])} does; returns what it cost. */
  long read(SparseTable t, long[] ids, int from, int to, float[] out) {
    t.read(ids, from, to, out);
    return takeUnpaid() + Turns.rowsCost(to - from, t.spec().dim());
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
    return room + takeUnpaid() + Turns.rowsCost(to - from, r.dim());
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
    return takeUnpaid() + Turns.rowsCost(to - from, r.dim());
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
