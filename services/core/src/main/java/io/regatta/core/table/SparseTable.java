package io.regatta.core.table;

import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import java.util.Arrays;

/**
 * One shard's rows of a sparse table: 64-bit id → {@code dim} float32 values and their optimizer slots, contiguous.
 * Owned by the thread of its shard; not thread-safe. Callers check lengths, owners and limits.
 *
 * <p>Rows lie in {@value #SEGMENTS} segments chosen by the id's hash. A row keeps its place for ever, its number within
 * its segment, so a walk over the table is a walk over numbers, which its owner can spread over turns. Growth is spread
 * over births ({@link SparseSegment}), and the segments' load factors differ, so that they do not all grow at a time.
 *
 * <p>Lists of ids are worked off in blocks: first all rows of a block are found, then all are read, then they are copied
 * or updated. Memory accesses within a step do not depend on each other, so the processor waits for many lines at a time.
 */
public final class SparseTable {

  /** Segments of every table. */
  public static final int SEGMENTS = 256;

  private static final int SEGMENT_SHIFT = Long.SIZE - 8;
  /** Ids of a block: what they touch fits the first two caches. */
  private static final int BLOCK = 128;
  private static final float LOAD_MIN = 0.5f;
  private static final float LOAD_MAX = 0.75f;

  private final SparseTableSpec spec;
  private final Optimizer optimizer;
  private final long birthKey;
  private final long digestKey;
  private final int dim;
  /** Floats of a row: values and slots. */
  private final int width;
  private final SparseSegment[] segments = new SparseSegment[SEGMENTS];
  private final long[] hashes = new long[BLOCK];
  private final int[] rows = new int[BLOCK];
  /** Written only so that the reads which bring lines to the cache are not left out. */
  private float touched;
  private long size;

  /** An empty table; {@code seed} is that of the job's initializers. */
  public SparseTable(long seed, SparseTableSpec spec) {
    this.spec = spec;
    birthKey = InitializerSpec.tableKey(seed, spec.name());
    digestKey = ParameterHash.tableKey(spec.name());
    optimizer = Optimizer.of(spec.optimizer());
    dim = spec.dim();
    width = Math.multiplyExact(dim, 1 + optimizer.slots());
    for (int i = 0; i < SEGMENTS; i++) {
      segments[i] = new SparseSegment(width, LOAD_MIN + (LOAD_MAX - LOAD_MIN) * i / (SEGMENTS - 1));
    }
  }

  public SparseTableSpec spec() {
    return spec;
  }

  /** Rows in the table. */
  public long size() {
    return size;
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
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      findOrBear(ids, at, n);
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        System.arraycopy(s.slab(rows[i]), s.offset(rows[i]), out, (at + i) * dim, dim);
      }
    }
  }

  /** The values that {@link #pull} would give; the table stays as it is. */
  public float[] read(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    read(ids, 0, ids.length, out);
    return out;
  }

  /** Copies what {@link #pull(long[], int, int, float[])} would; the table stays as it is. */
  public void read(long[] ids, int from, int to, float[] out) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      find(ids, at, n);
      for (int i = 0; i < n; i++) {
        if (rows[i] >= 0) {
          SparseSegment s = segment(hashes[i]);
          System.arraycopy(s.slab(rows[i]), s.offset(rows[i]), out, (at + i) * dim, dim);
        } else {
          spec.initializer().fill(birthKey, ids[at + i], out, (at + i) * dim, dim);
        }
      }
    }
  }

  /** One optimizer step on each row; unknown rows are born first. See {@link Optimizer#apply}. */
  public void update(long[] ids, float[] gradients, float lr, long updates) {
    update(ids, 0, ids.length, gradients, lr, updates);
  }

  /** As {@link #update(long[], float[], float, long)}, of the rows of {@code ids[from .. to)} only. */
  public void update(long[] ids, int from, int to, float[] gradients, float lr, long updates) {
    for (int at = from; at < to; at += BLOCK) {
      int n = Math.min(BLOCK, to - at);
      findOrBear(ids, at, n);
      for (int i = 0; i < n; i++) {
        SparseSegment s = segment(hashes[i]);
        float[] slab = s.slab(rows[i]);
        int off = s.offset(rows[i]);
        optimizer.apply(slab, off, slab, off + dim, dim, gradients, (at + i) * dim, dim, lr, updates);
      }
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

  /** Rows of one segment in [0, {@value #SEGMENTS}); later births add behind them. */
  public int rows(int segment) {
    return segments[segment].size();
  }

  /** The id of a row of a segment. */
  public long id(int segment, int row) {
    return segments[segment].id(row);
  }

  /** Copies ids and values of rows [from, from + n) of a segment to {@code ids} and {@code values}, from the start. */
  public void copy(int segment, int from, int n, long[] ids, float[] values) {
    SparseSegment s = segments[segment];
    for (int i = 0; i < n; i++) {
      ids[i] = s.id(from + i);
      System.arraycopy(s.slab(from + i), s.offset(from + i), values, i * dim, dim);
    }
  }

  /** All ids, in no particular order. */
  public long[] ids() {
    long[] out = new long[Math.toIntExact(size)];
    int n = 0;
    for (SparseSegment s : segments) {
      for (int row = 0; row < s.size(); row++) {
        out[n++] = s.id(row);
      }
    }
    return out;
  }

  /** Sum of the hashes of rows [from, to) of a segment; sums over all rows make the digest. */
  public long digest(int segment, int from, int to) {
    SparseSegment s = segments[segment];
    long sum = 0;
    for (int row = from; row < to; row++) {
      sum += ParameterHash.row(digestKey, s.id(row), s.slab(row), s.offset(row), dim);
    }
    return sum;
  }

  static long hash(long id) {
    return Mix64.mix(id);
  }

  private SparseSegment segment(long hash) {
    return segments[(int) (hash >>> SEGMENT_SHIFT)];
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
    find(ids, from, n);
    for (int i = 0; i < n; i++) {
      if (rows[i] < 0) {
        rows[i] = born(ids[from + i], hashes[i]);
      }
    }
  }

  private int born(long id, long hash) {
    SparseSegment s = segment(hash);
    int row = s.find(id, hash);
    if (row >= 0) { // the list holds the id twice
      return row;
    }
    row = s.add(id, hash);
    float[] slab = s.slab(row);
    int off = s.offset(row);
    spec.initializer().fill(birthKey, id, slab, off, dim);
    for (int k = 0; k < optimizer.slots(); k++) {
      int slot = off + (k + 1) * dim;
      Arrays.fill(slab, slot, slot + dim, optimizer.initialSlot(k));
    }
    size++;
    return row;
  }
}
