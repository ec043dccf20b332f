package io.regatta.core.shard.internal.parameters;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseState;
import io.regatta.core.dense.DenseTensor;
import io.regatta.core.dense.DenseUpdate;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.dense.DenseVector;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.TimeSlices;
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
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.function.Supplier;

/**
 * The parameters of one job on one shard: its part of the dense vector and its sparse rows. A sparse table is created
 * when its rows are first requested, so that a job of many tables begins in one time slice. Owned by the shard's
 * thread.
 */
public final class JobTables {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Cost of creating a table, in floats: 1 to 2 µs. */
  public static final long CREATED_FLOATS = 2000;

  private final String where;
  private final OptimizerSpec denseOptimizer;
  private final DensePartition partition;
  /** Whole variables of this shard, if the optimizer needs them. */
  private final List<DenseTensor> tensors;
  private final int shard;
  private final BlockPool pool;
  private final long seed;
  private final boolean rounds;
  /** Specifications of all tables, in the order of the model. */
  private final List<SparseTableSpec> specs;
  /** Index of each table in the model. */
  private final Object2IntOpenHashMap<String> numbers;
  /** Tables by index in the model; null until rows of one are requested. */
  private final SparseTable[] sparse;
  /** Cost of the tables created since the last request was charged for them. */
  private long unpaid;
  private final TableGroup group;
  private final Capacity capacity;
  private final HeapBudget memory;
  /** Bytes taken of the budget, for the dense vector and its slots. */
  private long denseBytes;
  /**
   * Version at which the slots of the dense vector were fresh. {@link #since} has it for each table; 0 for those not
   * named there.
   */
  private long denseSince;
  /** Replaced as a whole: snapshots count from it on other threads. */
  private Object2LongMap<String> since = Object2LongMaps.emptyMap();
  /** Null until initialised. */
  private DenseVector dense;

  public JobTables(JobSpec spec, int shard, BlockPool pool, String where, ShardLimits limits,
      Clock clock) {
    this.where = where;
    this.pool = pool;
    this.shard = shard;
    partition = spec.partition();
    denseOptimizer = spec.model().denseOptimizer();
    tensors = denseOptimizer.needsWholeTensors() ? tensors(spec.model()) : List.of();
    denseBytes = (long) denseSize() * Float.BYTES * denseWidth();
    seed = spec.model().seed();
    rounds = spec.mode().hasRounds();
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

  private List<DenseTensor> tensors(ModelSpec model) {
    Map<String, Integer> dimensions = new HashMap<>();
    model.dense().forEach(v -> dimensions.put(v.name(), v.shape().size()));
    return partition.partsOf(shard).stream()
        .map(p -> new DenseTensor(p.shardOffset(), p.size(), dimensions.get(p.variable()))).toList();
  }

  /** Returns the bytes of a row, unless the heap could not hold one. */
  private long checkedRowBytes(SparseTableSpec table, RowLayout layout) {
    long bytes = SparseTable.rowBytes(layout);
    if (bytes > memory.limit()) {
      throw noMemory("a row of sparse table '" + table.name() + "' with " + layout.width() + " floats", bytes);
    }
    return bytes;
  }

  /** Takes the memory of the dense vector of the budget before anything is allocated; refuses a vector without room. */
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

  /** Returns the memory to the heap's budget; the parameters are not used any more. */
  public void close() {
    capacity.close();
    memory.giveBack(denseBytes);
    denseBytes = 0;
  }

  /** Returns the names of shard and job, for messages. */
  public String where() {
    return where;
  }

  /** Returns the shard's pool of blocks. */
  public BlockPool blocks() {
    return pool;
  }

  public int denseSize() {
    return partition.sizeOf(shard);
  }

  /** Whether the dense vector has its first values; one of no elements always has. */
  public boolean initialized() {
    return dense != null;
  }

  public void initialize(DenseValues values) {
    dense = new DenseVector(values, denseOptimizer, tensors, pool);
  }

  /** Resumes from saved values and slots; see {@link DenseVector}. */
  public void restore(float[][] values, float[][][] slots) {
    dense = new DenseVector(denseSize(), values, slots, denseOptimizer, tensors, pool);
  }

  /**
   * Sets how many updates the optimizers have made at this version of the shard. An optimizer whose slots are fresh
   * counts from there: a high count would switch the bias correction of Adam off.
   */
  public void restore(long version, OptimizerUpdates updates) {
    denseSince = version - updates.dense();
    Object2LongMap<String> from = new Object2LongOpenHashMap<>(specs.size());
    specs.forEach(t -> from.put(t.name(), version - updates.table(t.name())));
    since = from;
  }

  /**
   * Returns a supplier of the number of updates that the optimizers have made at this version, each since its slots
   * were fresh. It visits every table, so it runs only when called; any thread may call it.
   */
  public Supplier<OptimizerUpdates> updates(long version) {
    Object2LongMap<String> from = since;
    long dense = version - denseSince;
    return () -> {
      Map<String, Long> tables = new LinkedHashMap<>();
      specs.forEach(t -> tables.put(t.name(), version - from.getLong(t.name())));
      return new OptimizerUpdates(dense, tables);
    };
  }

  /** The dense vector with its slots as it is now; to be released. */
  public DenseState denseState() {
    return dense.state();
  }

  /** The dense vector as it is now; to be released. */
  public DenseValues denseSnapshot() {
    return dense.snapshot();
  }

  /** Returns a table, and creates it if it has not been requested before. */
  public SparseTable table(String name) {
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
  public Set<String> names() {
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

  /** Returns the specification of a table; does not create it. */
  public SparseTableSpec spec(String table) {
    return specs.get(number(table));
  }

  /** Returns the bytes that a row of a table takes; does not create the table. */
  long rowBytes(String table) {
    return SparseTable.rowBytes(RowLayout.of(spec(table)));
  }

  /** Returns how many of {@code ids[from .. to)} have no row yet; does not create the table. */
  public int missing(String table, long[] ids, int from, int to) {
    SparseTable there = sparse[number(table)];
    return there == null ? to - from : there.missing(ids, from, to);
  }

  /** Returns the number of sparse tables of the model. */
  public int count() {
    return specs.size();
  }

  /** Returns the specification of the table at an index in the model. */
  public SparseTableSpec spec(int number) {
    return specs.get(number);
  }

  /** Returns the table at an index in the model, or null if it has not been created. */
  public SparseTable created(int number) {
    return sparse[number];
  }

  /** Returns the tables that have been created, in the order of the model; others may be created during a walk. */
  public Iterable<SparseTable> sparseTables() {
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
  public GroupSnapshot snapshot(TableSnapshot.Scope scope, long keptMax) {
    return GroupSnapshot.begin(group, scope, keptMax);
  }

  /** Returns whether the tables note what changes, for a delta. */
  public boolean notesChanges() {
    return group.notes();
  }

  private long takeUnpaid() {
    long cost = unpaid;
    unpaid = 0;
    return cost;
  }

  /** Rows in all sparse tables. */
  public long rows() {
    return group.rows();
  }

  /** Returns the number of rows created in all sparse tables. */
  public long births() {
    return group.created();
  }

  /** Returns the capacity for rows of all sparse tables together. */
  Capacity capacity() {
    return capacity;
  }

  public Map<String, TableCounts> countsByTable() {
    Map<String, TableCounts> counts = new LinkedHashMap<>();
    for (int i = 0; i < sparse.length; i++) {
      counts.put(specs.get(i).name(), sparse[i] == null ? TableCounts.NONE : sparse[i].counts());
    }
    return counts;
  }

  public Map<String, Long> rowsByTable() {
    Map<String, Long> rows = new LinkedHashMap<>();
    for (int i = 0; i < sparse.length; i++) {
      rows.put(specs.get(i).name(), sparse[i] == null ? 0 : sparse[i].size());
    }
    return rows;
  }

  /**
   * Copies the values of {@code ids[from .. to)} for training; unknown rows are created, and evict others if there is
   * no room.
   *
   * @param counts see {@link SparseTable#pull(long[], int, int, float[], LongPredicate)}
   * @return the cost, in {@link TimeSlices#FLOATS}
   */
  public long pull(SparseTable t, long[] ids, int from, int to, float[] out, LongPredicate counts) {
    long room = capacity.makeRoom(to - from, t.rowBytes());
    t.pull(ids, from, to, out, counts);
    return room + takeUnpaid() + TimeSlices.rowsCost(to - from, t.spec().dim());
  }

  /** Copies the values of {@code ids[from .. to)}, as {@link SparseTable#read(long[])} does; returns the cost. */
  public long read(SparseTable t, long[] ids, int from, int to, float[] out) {
    t.read(ids, from, to, out);
    return takeUnpaid() + TimeSlices.rowsCost(to - from, t.spec().dim());
  }

  /**
   * Makes one optimizer step of rows {@code [from .. to)}.
   *
   * @param step chooses the learning rate
   * @param version of the shard with this update
   * @return the cost, in {@link TimeSlices#FLOATS}
   */
  public long update(SparseRows r, int from, int to, long step, long version) {
    SparseTable t = table(r.table());
    long room = capacity.makeRoom(to - from, t.rowBytes());
    t.update(r.ids(), from, to, r.values(), (float) t.spec().optimizer().learningRate().at(step),
        version - since.getLong(r.table()));
    return room + takeUnpaid() + TimeSlices.rowsCost(to - from, r.dim());
  }

  /** Returns the number of floats that the update of a dense element reads and writes, beside the gradient. */
  public int denseWidth() {
    return 1 + denseOptimizer.optimizer().slots().size();
  }

  /**
   * Begins one optimizer step of the dense vector.
   *
   * @param step chooses the learning rate
   * @param version of the shard with this update
   */
  public DenseUpdate denseUpdate(long step, long version) {
    return dense.update((float) denseOptimizer.learningRate().at(step), version - denseSince);
  }

  /** Adds the deltas of rows {@code [from .. to)}, without the optimizer; returns the cost. */
  public long add(SparseRows r, int from, int to) {
    table(r.table()).add(r.ids(), from, to, r.values());
    return takeUnpaid() + TimeSlices.rowsCost(to - from, r.dim());
  }

  /** Adds the deltas of a block of the dense vector, without the optimizer. */
  public void add(int block, float[] delta) {
    dense.add(block, delta);
  }

  /** Sets the dense vector's values; its optimizer's slots stay. */
  public void assign(DenseValues values) {
    dense.assign(values);
  }

  /** Returns the parts of the dense variables that lie on this shard; none before it is initialised. */
  public List<DensePartition.Part> denseParts() {
    return dense == null ? List.of() : partition.partsOf(shard);
  }

  /** Returns the hash of {@code n} elements of a part, starting at its element {@code from}. */
  public long digest(DensePartition.Part part, int from, int n) {
    return dense.digest(part.variable(), part.variableOffset() + from, part.shardOffset() + from, n);
  }
}
