package io.regatta.core.table;

import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import java.util.Arrays;
import java.util.function.LongPredicate;
import java.util.function.LongSupplier;

/**
 * One shard's rows of a sparse table: 64-bit id → {@code dim} float32 values and their optimizer slots, contiguous.
 * Owned by the thread of its shard; not thread-safe. Callers check lengths, owners and limits.
 *
 * <p>Rows lie in {@value #SEGMENTS} segments chosen by the id's hash, each of which is created with its first row. A row keeps its place while it lives, its number
 * within its segment, so a walk over the table is a walk over numbers, which its owner can spread over turns. Growth is spread
 * over births ({@link SparseSegment}), and the segments' load factors differ, so that they do not all grow at a time.
 *
 * <p>Lists of ids are worked off in blocks: first all rows of a block are found, then all are read, then they are copied
 * or updated. Memory accesses within a step do not depend on each other, so the processor waits for many lines at a time.
 *
 * <p>Only tables whose {@link SparseTableSpec#life} is tracked admit rows later than they are first named, count, and
 * remove rows; what a row consists of is {@link RowLayout}'s to say.
 */
public final class SparseTable {

  /** Segments of every table. */
  public static final int SEGMENTS = 256;

  /** Rows that fit every table, however unevenly their hashes choose among segments. */
  public static final long ROWS_MAX = SEGMENTS * SparseSegment.ROWS_MAX / 8 * 7;

  private static final int SEGMENT_SHIFT = Long.SIZE - 8;
  /** Ids of a block: what they touch fits the first two caches. */
  static final int BLOCK = 128;
  private static final float LOAD_MIN = 0.5f;
  private static final float LOAD_MAX = 0.75f;
  /** Slots of 4 bytes, a quarter to three quarters of them taken. */
  private static final int INDEX_BYTES = 10;
  /** Stands for each segment that has had no row: finds nothing, and is never written. */
  private static final SparseSegment NO_SEGMENT = new SparseSegment(1, LOAD_MIN);
  private static final SparseSegment[] NO_SEGMENTS = new SparseSegment[SEGMENTS];
  private static final int[] NO_ROWS = new int[SEGMENTS];

  static {
    Arrays.fill(NO_SEGMENTS, NO_SEGMENT);
  }

  private final SparseTableSpec spec;
  private final Optimizer optimizer;
  private final long birthKey;
  private final long digestKey;
  private final RowLayout layout;
  /** Null in a table whose rows are born and stay. */
  private final RowLife life;
  private final RowRemoval removal;
  private final int dim;
  /** Floats of a row. */
  private final int width;
  private final TableGroup group;
  /** Place in the group. */
  private final int number;
  /** {@link #NO_SEGMENTS} until the first row; then {@link #NO_SEGMENT} in each place that has had no row. */
  private SparseSegment[] segments = NO_SEGMENTS;
  /** The group's, for the block that is being worked off. */
  private final long[] hashes;
  private final int[] rows;
  /** Written only so that the reads which bring lines to the cache are not left out. */
  private float touched;
  private long size;
  private long restored;
  private long refused;
  /** Last moment of the group that this table has noticed. */
  private int moment;
  /** Told of rows before they change; null: nobody wants to know. */
  RowWatch watch;

  /** Creates an empty table of a group of its own, in which no time passes; {@code seed} is that of the initializers. */
  public SparseTable(long seed, SparseTableSpec spec) {
    this(seed, spec, false, () -> 0);
  }

  /** Creates an empty table of a group of its own; see {@link #SparseTable(long, SparseTableSpec, boolean, TableGroup)}. */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, LongSupplier monotonicMillis) {
    this(seed, spec, rounds, new TableGroup(1, false, monotonicMillis));
  }

  /**
   * Creates an empty table under the next number of its group; see
   * {@link #SparseTable(long, SparseTableSpec, boolean, TableGroup, int)}.
   */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, TableGroup group) {
    this(seed, spec, rounds, group, group.nextNumber());
  }

  /**
   * Creates an empty table.
   *
   * @param rounds whether updates are sync rounds, see {@link RowLife}
   * @param group that it belongs to, and whose training clock dates the rows of a tracked table
   * @param number its place in the group
   */
  public SparseTable(long seed, SparseTableSpec spec, boolean rounds, TableGroup group, int number) {
    this.spec = spec;
    this.group = group;
    hashes = group.hashes;
    rows = group.found;
    birthKey = InitializerSpec.tableKey(seed, spec.name());
    digestKey = ParameterHash.tableKey(spec.name());
    optimizer = Optimizer.of(spec.optimizer());
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
      watch.changed = new ChangedRows(); // the last base and its deltas do not hold this table: all its rows are new
    }
  }

  /** Returns its place in the group. */
  int number() {
    return number;
  }

  public SparseTableSpec spec() {
    return spec;
  }

  /** What lies where in a row. */
  public RowLayout layout() {
    return layout;
  }

  /** Rows in the table, those that are not admitted yet included. */
  public long size() {
    return size;
  }

  /** Bytes of memory that a row takes: its floats, its id and about as much of the index as it has on average. */
  public long rowBytes() {
    return rowBytes(layout);
  }

  /** Returns {@link #rowBytes()} of a table whose rows have this layout. */
  public static long rowBytes(RowLayout layout) {
    return (long) Float.BYTES * (layout.width() + SparseSegment.ID_FLOATS) + INDEX_BYTES;
  }

  /** Rows born so far. */
  public long births() {
    return life == null ? size : size + life.removed();
  }

  /** What has happened to rows so far. */
  public TableCounts counts() {
    return life == null ? new TableCounts(size, 0, 0, 0, 0, 0, 0, 0, 0, 0, restored, refused)
        : life.counts(births(), restored, refused);
  }

  /** A request with rows of this table has been refused for want of room. */
  public void refused() {
    refused++;
  }

  /** How many of the ids have no row yet. */
  public int missing(long[] ids) {
    return missing(ids, 0, ids.length);
  }

  /** How many of {@code ids[from .. to)} have no row yet. */
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

  /** The values of the rows, n × dim, in the order of the ids; unknown rows are born. */
  public float[] pull(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    pull(ids, 0, ids.length, out);
    return out;
  }

  /** Copies the values of the rows of {@code ids[from .. to)} to their places in {@code out}; unknown ones are born. */
  public void pull(long[] ids, int from, int to, float[] out) {
    pull(ids, from, to, out, null);
  }

  /**
   * As {@link #pull(long[], int, int, float[])}, by a pull that may be repeated.
   *
   * @param counts asked once for each row that is not admitted: whether this pull counts for its admission; null: it does
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

  /** A training pull has named these rows, which have been found: some are admitted by that. */
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

  /** The values that the rows have, or, those that are not there, would be born with; the table stays as it is. */
  public float[] read(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    read(ids, 0, ids.length, out);
    return out;
  }

  /** As {@link #read(long[])}, of {@code ids[from .. to)}, each to its place in {@code out}. */
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
   * One optimizer step on each row; unknown rows are born first. See {@link Optimizer#apply}. In a table with statistics a
   * row of {@code gradients} has show and click behind its gradient. In one that admits rows, gradients of those that are
   * not admitted are dropped and counted, and of those that are not there all is.
   */
  public void update(long[] ids, float[] gradients, float lr, long updates) {
    update(ids, 0, ids.length, gradients, lr, updates);
  }

  /** As {@link #update(long[], float[], float, long)}, of the rows of {@code ids[from .. to)} only. */
  public void update(long[] ids, int from, int to, float[] gradients, float lr, long updates) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      if (life != null) {
        updateTracked(ids, at, n, gradients, lr, updates);
        continue;
      }
      findOrBear(ids, at, n);
      change(n);
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        float[] slab = s.slab(rows[i]);
        int off = s.offset(rows[i]);
        optimizer.apply(slab, off, slab, off + dim, dim, gradients, (at + i) * dim, dim, lr, updates);
      }
    }
  }

  private void updateTracked(long[] ids, int from, int n, float[] gradients, float lr, long updates) {
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
        optimizer.apply(slab, off, slab, off + dim, dim, gradients, g, dim, lr, updates);
      } else {
        life.droppedGradients++;
      }
      life.updated(slab, off);
    }
  }

  /** Adds deltas to the rows' values; the optimizer takes no part (geo). Unknown rows are born first. */
  public void add(long[] ids, float[] deltas) {
    add(ids, 0, ids.length, deltas);
  }

  /** As {@link #add(long[], float[])}, to the rows of {@code ids[from .. to)} only. */
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
   * Row numbers in use of one segment in [0, {@value #SEGMENTS}): later births add behind them, or take those of removed
   * rows.
   */
  public int rows(int segment) {
    return segments[segment].size();
  }

  /** Returns {@link #rows(int)} of every segment; nobody writes to it. */
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

  /** The id of a row of a segment, if that has not been removed. */
  public long id(int segment, int row) {
    return segments[segment].id(row);
  }

  /**
   * Marks this moment for {@link #copy} and {@link #shrink}. In a table that removes rows, a walk leaves out rows created after
   * it began: it might meet an id twice, before its removal and after its creation in another place.
   */
  public int mark() {
    return life == null ? 0 : life.mark();
  }

  /**
   * Copies ids and values of rows [from, from + n) of a segment to {@code ids} and {@code values}, from the start: of
   * those that are there, admitted, and (in a table that removes rows) not born since the mark.
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

  /** Returns whether rows are created that are not admitted, and by how many pulls they are is counted pull by pull. */
  public boolean countsPulls() {
    return life != null && life.countsPulls();
  }

  private boolean isSeen(float[] slab, int off, int mark) {
    return life == null || life.isAdmitted(slab, off) && !life.bornSince(slab, off, mark);
  }

  /** Puts a whole row, {@link RowLayout#width} floats, in the place of the id's row, which is born if there is none. */
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

  /** Gives a row values, for training to begin with; it is born if there is none, and admitted. Before anybody watches. */
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
   * One shrink of rows [from, to) of a segment: their counts decay, they grow a day older if that has ended, and those
   * whose score, days unseen or time to live says so are removed. Rows born since the mark stay as they are. Does
   * nothing to a table that is not tracked.
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

  /** A shrink has gone through all segments of this tracked table. */
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

  /** All ids, in no particular order. */
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

  /** Sum of the hashes of the admitted ones of rows [from, to) of a segment; sums over all rows make the digest. */
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

  /** Has the group's last snapshot take this table, if nothing has changed since its moment; called before each change. */
  void noticeMoment() {
    if (moment != group.moments()) {
      moment = group.moments();
      group.take(this);
    }
  }

  /** The rows of this block that are there are about to change. */
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

  /** Writes the values and slots that a row begins with. */
  private void initialize(long id, float[] slab, int off) {
    spec.initializer().fill(birthKey, id, slab, off, dim);
    for (int k = 0; k < optimizer.slots(); k++) {
      int slot = off + (k + 1) * dim;
      Arrays.fill(slab, slot, slot + dim, optimizer.initialSlot(k));
    }
  }
}
