package io.regatta.core.table;

import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.UpdateStep;
import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * One shard's rows of a sparse table: 64-bit id → {@code dim} float32 values and their optimizer slots, contiguous.
 * Owned by the thread of its shard; not thread-safe. Callers check lengths, owners and limits.
 *
 * <p>Rows lie in {@value #SEGMENTS} segments chosen by the id's hash, each of which is created with its first row. A
 * row keeps its number within its segment for life, so a walk over the table is a walk over numbers. The table's owner
 * can spread such a walk over time slices. Growth is spread over the creations of rows ({@link SparseSegment}). The
 * segments' load factors differ, so that they do not all grow at the same time.
 *
 * <p>Lists of ids are processed in blocks: first all rows of a block are found, then all are read, then they are copied
 * or updated. Memory accesses within a step do not depend on each other, so the processor waits for many lines at a
 * time.
 *
 * <p>Only tables whose {@link SparseTableSpec#life} is tracked admit rows later than they are first requested, keep
 * counts, and remove rows. {@link RowLayout} defines the content of a row.
 */
public final class SparseTable {

  /** Number of segments of every table. */
  public static final int SEGMENTS = 256;

  /** Number of rows that fit every table, however unevenly their hashes choose among segments. */
  public static final long ROWS_MAX = SEGMENTS * SparseSegment.ROWS_MAX / 8 * 7;

  private static final int SEGMENT_SHIFT = Long.SIZE - 8;
  /** Number of ids in a block: the memory that they access fits the first two caches. */
  static final int BLOCK = 128;
  private static final float LOAD_MIN = 0.5f;
  private static final float LOAD_MAX = 0.75f;
  /** Average bytes of the index per row: slots of 4 bytes, a quarter to three quarters of them taken. */
  private static final int INDEX_BYTES = 10;
  /** Placeholder for each segment that has had no row: finds nothing, and is never written. */
  private static final SparseSegment NO_SEGMENT = new SparseSegment(1, LOAD_MIN);
  private static final SparseSegment[] NO_SEGMENTS = new SparseSegment[SEGMENTS];
  private static final int[] NO_ROWS = new int[SEGMENTS];

  static {
    Arrays.fill(NO_SEGMENTS, NO_SEGMENT);
  }

  private final SparseTableSpec spec;
  private final ElementwiseOptimizer optimizer;
  private final float[] initialSlots;
  private final long birthKey;
  private final long digestKey;
  private final RowLayout layout;
  /** Null in a table that is not tracked: its rows need no admission and are never removed. */
  private final RowLife life;
  private final RowRemoval removal;
  private final int dim;
  /** Number of floats of a row. */
  private final int width;
  private final TableGroup group;
  /** Index in the group. */
  private final int number;
  /** Segments; {@link #NO_SEGMENTS} until the first row, then {@link #NO_SEGMENT} in each place that has had no row. */
  private SparseSegment[] segments = NO_SEGMENTS;
  /** Scratch memory of the group, for the block that is being processed. */
  private final long[] hashes;
  private final int[] rows;
  /** Sum of values read, written only so that the reads which bring lines to the cache are not optimized away. */
  private float touched;
  private long size;
  private long restored;
  private long refused;
  /** Last moment of the group for which this table has been taken, if a snapshot was open. */
  private int moment;
  /** Observer of rows before they change; null if there is none. */
  RowWatch watch;

  /**
   * Creates an empty table in a group of its own, in which no time passes; {@code seed} is that of the initializers.
   */
  public SparseTable(long seed, SparseTableSpec spec) {
    this(seed, spec, false, () -> 0);
  }

  /**
   * Creates an empty table in a group of its own; see {@link #SparseTable(long, SparseTableSpec, boolean, TableGroup)}.
   */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, LongSupplier monotonicMillis) {
    this(seed, spec, rounds, new TableGroup(1, false, monotonicMillis));
  }

  /**
   * Creates an empty table under the next number of its group; see {@link #SparseTable(long, SparseTableSpec, boolean,
   * TableGroup, int)}.
   */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, TableGroup group) {
    this(seed, spec, rounds, group, group.nextNumber());
  }

  /**
   * Creates an empty table.
   *
   * @param rounds whether updates are sync rounds, see {@link RowLife}
   * @param group that it belongs to, and whose training clock dates the rows of a tracked table
   * @param number its index in the group
   */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, TableGroup group, int number) {
    this.spec = spec;
    this.group = group;
    hashes = group.hashes;
    rows = group.found;
    birthKey = InitializerSpec.tableKey(seed, spec.name());
    digestKey = ParameterHash.tableKey(spec.name());
    optimizer = (ElementwiseOptimizer) spec.optimizer().optimizer();
    initialSlots = initialSlots(optimizer);
    dim = spec.dim();
    layout = RowLayout.of(spec);
    width = layout.width();
    life = layout.tracked() ? new RowLife(spec.life(), layout, birthKey, rounds, group.clock()) : null;
    removal = life == null ? null : new RowRemoval(life);
    this.number = number;
    group.add(this, number);
    moment = group.moments();
    if (group.notes()) {
      watch = new RowWatch();
      watch.changed = new ChangedRowSet(); // the last base and its deltas do not hold this table: all its rows are new
    }
  }

  /** Returns its index in the group. */
  int number() {
    return number;
  }

  public SparseTableSpec spec() {
    return spec;
  }

  /** Returns the layout of a row. */
  public RowLayout layout() {
    return layout;
  }

  /** Returns the number of rows, those that are not admitted yet included. */
  public long size() {
    return size;
  }

  /** Returns the bytes of memory that a row takes: its floats, its id, and its average part of the index. */
  public long rowBytes() {
    return rowBytes(layout);
  }

  /** Returns {@link #rowBytes()} of a table whose rows have this layout. */
  public static long rowBytes(RowLayout layout) {
    return (long) Float.BYTES * (layout.width() + SparseSegment.ID_FLOATS) + INDEX_BYTES;
  }

  /** Returns the number of rows created so far. */
  public long births() {
    return life == null ? size : size + life.removed();
  }

  /** Returns the counts of what has happened to rows so far. */
  public TableCounts counts() {
    return life == null ? new TableCounts(size, 0, 0, 0, 0, 0, 0, 0, 0, 0, restored, refused)
        : life.counts(births(), restored, refused);
  }

  /** Counts a request with rows of this table that was refused because there was no room. */
  public void refused() {
    refused++;
  }

  /** Returns how many of the ids have no row yet. */
  public int missing(long[] ids) {
    return missing(ids, 0, ids.length);
  }

  /** Returns how many of {@code ids[from .. to)} have no row yet. */
  public int missing(long[] ids, int from, int to) {
    int missing = 0;
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      find(ids, at, n);
      for (int i = 0; i < n; i++) {
        missing += rows[i] >>> 31;
      }
    }
    return missing;
  }

  /** Returns the values of the rows, n × dim, in the order of the ids; unknown rows are created. */
  public float[] pull(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    pull(ids, 0, ids.length, out);
    return out;
  }

  /**
   * Copies the values of the rows of {@code ids[from .. to)} to their places in {@code out}; unknown rows are created.
   */
  public void pull(long[] ids, int from, int to, float[] out) {
    pull(ids, from, to, out, null);
  }

  /**
   * Copies values as {@link #pull(long[], int, int, float[])} does, for a pull that may be repeated.
   *
   * @param counts asked once for each row that is not admitted: whether this pull counts for its admission; null: it
   *     does
   */
  public void pull(long[] ids, int from, int to, float[] out, LongPredicate counts) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      findOrBear(ids, at, n);
      if (life != null) {
        pulled(ids, at, n, counts);
      }
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        System.arraycopy(s.slab(rows[i]), s.offset(rows[i]), out, (at + i) * dim, dim);
      }
    }
  }

  /** Counts a training pull of these rows, which have been found; it may admit some of them. */
  private void pulled(long[] ids, int from, int n, LongPredicate counts) {
    change(n);
    for (int i = 0; i < n; i++) {
      SparseSegment s = segment(hashes[i]);
      float[] slab = s.slab(rows[i]);
      int off = s.offset(rows[i]);
      if (life.pulled(slab, off, ids[from + i], counts)) {
        initialize(ids[from + i], slab, off);
      }
    }
  }

  /**
   * Returns the values of the rows; for a missing row, those that it would be created with. The table stays as it is.
   */
  public float[] read(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    read(ids, 0, ids.length, out);
    return out;
  }

  /** Copies values as {@link #read(long[])} does, of {@code ids[from .. to)}, each to its place in {@code out}. */
  public void read(long[] ids, int from, int to, float[] out) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      find(ids, at, n);
      for (int i = 0; i < n; i++) {
        if (rows[i] >= 0) {
          SparseSegment s = segment(hashes[i]);
          System.arraycopy(s.slab(rows[i]), s.offset(rows[i]), out, (at + i) * dim, dim);
        } else if (life != null && life.admits()) {
          Arrays.fill(out, (at + i) * dim, (at + i + 1) * dim, 0);
        } else {
          spec.initializer().fill(birthKey, ids[at + i], out, (at + i) * dim, dim);
        }
      }
    }
  }

  /**
   * Makes one optimizer step on each row; unknown rows are created first. See {@link ElementwiseOptimizer#apply}. In a table with
   * statistics a row of {@code gradients} has show and click after its gradient. In a table that admits rows, gradients
   * of rows that are not admitted are dropped and counted. For a row that does not exist, show and click are dropped,
   * too.
   */
  public void update(long[] ids, float[] gradients, float lr, long updates) {
    update(ids, 0, ids.length, gradients, lr, updates);
  }

  /**
   * Makes one optimizer step as {@link #update(long[], float[], float, long)} does, on the rows of {@code ids[from ..
   * to)} only.
   */
  public void update(long[] ids, int from, int to, float[] gradients, float lr, long updates) {
    UpdateStep step = spec.optimizer().step(lr, updates);
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      if (life != null) {
        updateTracked(ids, at, n, gradients, step);
        continue;
      }
      findOrBear(ids, at, n);
      change(n);
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        float[] slab = s.slab(rows[i]);
        int off = s.offset(rows[i]);
        optimizer.apply(slab, off, slab, off + dim, dim, gradients, (at + i) * dim, dim, step);
      }
    }
  }

  private void updateTracked(long[] ids, int from, int n, float[] gradients, UpdateStep step) {
    int stride = spec.pushWidth();
    if (life.admits()) {
      find(ids, from, n);
    } else {
      findOrBear(ids, from, n);
    }
    change(n);
    for (int i = 0; i < n; i++) {
      if (rows[i] < 0) {
        life.droppedGradients++;
        continue;
      }
      SparseSegment s = segment(hashes[i]);
      float[] slab = s.slab(rows[i]);
      int off = s.offset(rows[i]);
      int g = (from + i) * stride;
      if (spec.counts() > 0) {
        life.counted(slab, off, gradients, g + dim);
      }
      if (life.isAdmitted(slab, off)) {
        optimizer.apply(slab, off, slab, off + dim, dim, gradients, g, dim, step);
      } else {
        life.droppedGradients++;
      }
      life.updated(slab, off);
    }
  }

  /** Adds deltas to the rows' values, without the optimizer. Unknown rows are created first. */
  public void add(long[] ids, float[] deltas) {
    add(ids, 0, ids.length, deltas);
  }

  /** Adds deltas as {@link #add(long[], float[])} does, to the rows of {@code ids[from .. to)} only. */
  public void add(long[] ids, int from, int to, float[] deltas) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      findOrBear(ids, at, n);
      change(n);
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        float[] slab = s.slab(rows[i]);
        int off = s.offset(rows[i]);
        for (int k = 0; k < dim; k++) {
          slab[off + k] += deltas[(at + i) * dim + k];
        }
      }
    }
  }

  /**
   * Returns the number of row numbers in use of one segment in [0, {@value #SEGMENTS}). Rows created later follow them,
   * or take the numbers of removed rows.
   */
  public int rows(int segment) {
    return segments[segment].size();
  }

  /** Returns {@link #rows(int)} of every segment; the array must not be written to. */
  int[] rowsBySegment() {
    if (segments == NO_SEGMENTS) {
      return NO_ROWS;
    }
    int[] rowsOf = new int[SEGMENTS];
    for (int s = 0; s < SEGMENTS; s++) {
      if (segments[s] != NO_SEGMENT) {
        rowsOf[s] = segments[s].size();
      }
    }
    return rowsOf;
  }

  /** Returns the id of a row of a segment; the row must not have been removed. */
  public long id(int segment, int row) {
    return segments[segment].id(row);
  }

  /**
   * Marks this moment for {@link #copy} and {@link #shrink}. In a table that removes rows, a walk leaves out rows
   * created after it began. Otherwise it might visit an id twice: before its removal, and after its creation under
   * another number.
   */
  public int mark() {
    return life == null ? 0 : life.mark();
  }

  /**
   * Copies ids and values of rows [from, from + n) of a segment to {@code ids} and {@code values}, starting at index 0.
   * Copies only rows that exist and are admitted. In a table that removes rows, it also leaves out rows created since
   * the mark.
   *
   * @return how many
   */
  public int copy(int segment, int from, int n, int mark, long[] ids, float[] values) {
    SparseSegment s = segments[segment];
    int copied = 0;
    for (int row = from; row < from + n; row++) {
      if (s.holds(row) && isSeen(s.slab(row), s.offset(row), mark)) {
        ids[copied] = s.id(row);
        System.arraycopy(s.slab(row), s.offset(row), values, copied * dim, dim);
        copied++;
      }
    }
    return copied;
  }

  /** Returns true if rows are created before they are admitted, and each pull of them is counted for that. */
  public boolean countsPulls() {
    return life != null && life.countsPulls();
  }

  private boolean isSeen(float[] slab, int off, int mark) {
    return life == null || life.isAdmitted(slab, off) && !life.bornSince(slab, off, mark);
  }

  /** Restores a whole row, {@link RowLayout#width} floats; it is created if there is none. */
  public void restore(long id, float[] floats, int from) {
    noticeMoment();
    hashes[0] = hash(id);
    int row = born(id, hashes[0]);
    SparseSegment s = segment(hashes[0]);
    float[] slab = s.slab(row);
    int off = s.offset(row);
    System.arraycopy(floats, from, slab, off, width);
    restored++;
    if (life != null) {
      life.restored(slab, off);
    }
  }

  /**
   * Sets the values of a row before training begins; it is created if there is none, and admitted. Must be called
   * before the table is watched.
   */
  public void assign(long id, float[] values, int from) {
    noticeMoment();
    hashes[0] = hash(id);
    int row = born(id, hashes[0]);
    SparseSegment s = segment(hashes[0]);
    float[] slab = s.slab(row);
    int off = s.offset(row);
    if (life != null && !life.isAdmitted(slab, off)) {
      life.admit(slab, off);
      initialize(id, slab, off);
    }
    System.arraycopy(values, from, slab, off, dim);
    restored++;
  }

  /**
   * Does one shrink of rows [from, to) of a segment: counts decay, and at an end of day the rows grow a day older. Rows
   * are removed if their score, days unseen or time to live requires it. Rows created since the mark stay as they are.
   * Does nothing to a table that is not tracked.
   *
   * @return rows removed
   */
  public int shrink(int segment, int from, int to, int mark, boolean endOfDay) {
    if (life == null) {
      return 0;
    }
    noticeMoment();
    int removed = removal.shrink(segments, segment, from, to, mark, endOfDay, watch);
    size -= removed;
    group.rowsRemoved(this, removed);
    return removed;
  }

  /** Counts a shrink that has gone through all segments of this tracked table. */
  public void shrunk() {
    life.shrinks++;
  }

  /**
   * Removes one row of a tracked table to make room, see {@link RowRemoval#evict}.
   *
   * @return whether one was found
   */
  public boolean evict() {
    noticeMoment();
    boolean evicted = life != null && removal.evict(segments, watch);
    if (evicted) {
      size--;
      group.rowsRemoved(this, 1);
    }
    return evicted;
  }

  /** Returns all ids, in no particular order. */
  public long[] ids() {
    long[] out = new long[Math.toIntExact(size)];
    int n = 0;
    for (SparseSegment s : segments) {
      for (int row = 0; row < s.size(); row++) {
        if (s.holds(row)) {
          out[n++] = s.id(row);
        }
      }
    }
    return out;
  }

  /**
   * Returns the sum of the hashes of the admitted ones of rows [from, to) of a segment; the sum over all rows is the
   * digest.
   */
  public long digest(int segment, int from, int to) {
    SparseSegment s = segments[segment];
    long sum = 0;
    for (int row = from; row < to; row++) {
      if (s.holds(row) && (life == null || life.isAdmitted(s.slab(row), s.offset(row)))) {
        sum += ParameterHash.row(digestKey, s.id(row), s.slab(row), s.offset(row), dim);
      }
    }
    return sum;
  }

  static long hash(long id) {
    return Mix64.mix(id);
  }

  private SparseSegment segment(long hash) {
    return segments[(int) (hash >>> SEGMENT_SHIFT)];
  }

  private SparseSegment segmentToAddTo(int number) {
    if (segments == NO_SEGMENTS) {
      segments = NO_SEGMENTS.clone();
    }
    if (segments[number] == NO_SEGMENT) {
      segments[number] = new SparseSegment(width, LOAD_MIN + (LOAD_MAX - LOAD_MIN) * number / (SEGMENTS - 1));
    }
    return segments[number];
  }

  SparseSegment segmentAt(int number) {
    return segments[number];
  }

  /** Has the group's open snapshot, if any, take this table, unless it has done so; called before each change. */
  void noticeMoment() {
    if (moment != group.moments()) {
      moment = group.moments();
      group.take(this);
    }
  }

  /** Announces that the existing rows of this block are about to change. */
  private void change(int n) {
    noticeMoment();
    if (watch == null) {
      return;
    }
    for (int i = 0; i < n; i++) {
      if (rows[i] >= 0) {
        watch.changes((int) (hashes[i] >>> SEGMENT_SHIFT), rows[i]);
      }
    }
  }

  /** Finds the rows of {@code ids[from .. from + n)}, n at most {@value #BLOCK}; those without one are -1. */
  private void find(long[] ids, int from, int n) {
    for (int i = 0; i < n; i++) {
      hashes[i] = hash(ids[from + i]);
      rows[i] = segment(hashes[i]).likely(hashes[i]);
    }
    float sum = 0;
    for (int i = 0; i < n; i++) {
      SparseSegment s = segment(hashes[i]);
      if (rows[i] >= 0 && s.id(rows[i]) == ids[from + i]) {
        sum += s.slab(rows[i])[s.offset(rows[i]) + width - 1];
      } else {
        rows[i] = s.find(ids[from + i], hashes[i]);
      }
    }
    touched = sum;
  }

  private void findOrBear(long[] ids, int from, int n) {
    if (life != null) {
      life.tick();
    }
    find(ids, from, n);
    for (int i = 0; i < n; i++) {
      if (rows[i] < 0) {
        rows[i] = born(ids[from + i], hashes[i]);
      }
    }
  }

  /** Returns the row of an id, which is created if there is none. */
  private int born(long id, long hash) {
    int row = segment(hash).find(id, hash);
    if (row >= 0) { // a list may hold an id twice
      return row;
    }
    noticeMoment();
    SparseSegment s = segmentToAddTo((int) (hash >>> SEGMENT_SHIFT));
    row = s.add(id, hash);
    float[] slab = s.slab(row);
    int off = s.offset(row);
    if (life != null) {
      life.born(slab, off);
    }
    if (life == null || !life.admits()) {
      initialize(id, slab, off);
    }
    size++;
    group.rowCreated(this);
    if (watch != null) {
      watch.born((int) (hash >>> SEGMENT_SHIFT), row);
    }
    return row;
  }

  /** Writes the initial values and slots of a row. */
  private void initialize(long id, float[] slab, int off) {
    spec.initializer().fill(birthKey, id, slab, off, dim);
    for (int k = 0; k < initialSlots.length; k++) {
      int slot = off + (k + 1) * dim;
      Arrays.fill(slab, slot, slot + dim, initialSlots[k]);
    }
  }

  private static float[] initialSlots(Optimizer optimizer) {
    float[] initial = new float[optimizer.slots().size()];
    for (int k = 0; k < initial.length; k++) {
      initial[k] = optimizer.slots().get(k).initial();
    }
    return initial;
  }
}
