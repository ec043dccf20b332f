package io.regatta.core.table;

import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;
import it.unimi.dsi.fastutil.HashCommon;
import java.util.Arrays;

/**
 * One shard's rows of a sparse table: 64-bit id → {@code dim} float32 values and their optimizer slots, contiguous.
 * Owned by the thread of its shard; not thread-safe. Callers check lengths, owners and limits.
 *
 * <p>Rows lie in {@value #SEGMENTS} segments chosen by hash bits that are independent of the owner's. Growth rehashes
 * one segment at a time, and the segments' load factors differ, so that they do not all grow in the same request: at
 * 10 M rows one growth moves 40 000 map entries (about 1 ms) and no row. Work over the whole table goes segment by
 * segment ({@link #ids(int)}), so that its owner can spread it over turns.
 */
public final class SparseTable {

  /** Segments of every table. */
  public static final int SEGMENTS = 256;

  /** Decorrelates the segment from the owning shard, which is a hash of the same id. */
  private static final long SEGMENT_SALT = 0x5851F42D4C957F2DL;
  private static final float LOAD_MIN = 0.5f;
  private static final float LOAD_MAX = 0.75f;

  private final long seed;
  private final SparseTableSpec spec;
  private final Optimizer optimizer;
  private final int dim;
  private final SparseSegment[] segments = new SparseSegment[SEGMENTS];
  private long size;

  /** An empty table; {@code seed} is that of the job's initializers. */
  public SparseTable(long seed, SparseTableSpec spec) {
    this.seed = seed;
    this.spec = spec;
    optimizer = Optimizer.of(spec.optimizer());
    dim = spec.dim();
    int width = Math.multiplyExact(dim, 1 + optimizer.slots());
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
    int missing = 0;
    for (long id : ids) {
      if (segment(id).find(id) < 0) {
        missing++;
      }
    }
    return missing;
  }

  /** The values of the rows, n × dim, in the order of the ids; unknown rows are born. */
  public float[] pull(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    for (int i = 0; i < ids.length; i++) {
      SparseSegment s = segment(ids[i]);
      int row = born(s, ids[i]);
      System.arraycopy(s.slab(row), s.offset(row), out, i * dim, dim);
    }
    return out;
  }

  /** The values that {@link #pull} would give; the table stays as it is. */
  public float[] read(long[] ids) {
    float[] out = new float[Math.multiplyExact(ids.length, dim)];
    for (int i = 0; i < ids.length; i++) {
      SparseSegment s = segment(ids[i]);
      int row = s.find(ids[i]);
      if (row >= 0) {
        System.arraycopy(s.slab(row), s.offset(row), out, i * dim, dim);
      } else {
        spec.initializer().fill(seed, spec.name(), ids[i], out, i * dim, dim);
      }
    }
    return out;
  }

  /** One optimizer step on each row; unknown rows are born first. See {@link Optimizer#apply}. */
  public void update(long[] ids, float[] gradients, float lr, long updates) {
    for (int i = 0; i < ids.length; i++) {
      SparseSegment s = segment(ids[i]);
      int row = born(s, ids[i]);
      float[] slab = s.slab(row);
      int off = s.offset(row);
      optimizer.apply(slab, off, slab, off + dim, dim, gradients, i * dim, dim, lr, updates);
    }
  }

  /** Adds deltas to the rows' values; the optimizer takes no part (geo). Unknown rows are born first. */
  public void add(long[] ids, float[] deltas) {
    for (int i = 0; i < ids.length; i++) {
      SparseSegment s = segment(ids[i]);
      int row = born(s, ids[i]);
      float[] slab = s.slab(row);
      int off = s.offset(row);
      for (int k = 0; k < dim; k++) {
        slab[off + k] += deltas[i * dim + k];
      }
    }
  }

  /** Ids of one segment in [0, {@value #SEGMENTS}), in no particular order. */
  public long[] ids(int segment) {
    return segments[segment].ids();
  }

  /** All ids, in no particular order. */
  public long[] ids() {
    long[] out = new long[Math.toIntExact(size)];
    int n = 0;
    for (SparseSegment s : segments) {
      long[] ids = s.ids();
      System.arraycopy(ids, 0, out, n, ids.length);
      n += ids.length;
    }
    return out;
  }

  /** Those of {@code ids[from .. to)} that have a row. */
  public long[] existing(long[] ids, int from, int to) {
    long[] found = new long[to - from];
    int n = 0;
    for (int i = from; i < to; i++) {
      if (segment(ids[i]).find(ids[i]) >= 0) {
        found[n++] = ids[i];
      }
    }
    return n == found.length ? found : Arrays.copyOf(found, n);
  }

  /** Sum of the hashes of those of the rows {@code ids[from .. to)} that exist; sums over all rows make the digest. */
  public long digest(long[] ids, int from, int to) {
    long sum = 0;
    for (int i = from; i < to; i++) {
      SparseSegment s = segment(ids[i]);
      int row = s.find(ids[i]);
      if (row >= 0) {
        sum += ParameterHash.row(spec.name(), ids[i], s.slab(row), s.offset(row), dim);
      }
    }
    return sum;
  }

  private SparseSegment segment(long id) {
    return segments[(int) (HashCommon.murmurHash3(id ^ SEGMENT_SALT) >>> 56)];
  }

  private int born(SparseSegment s, long id) {
    int row = s.find(id);
    if (row >= 0) {
      return row;
    }
    row = s.add(id);
    float[] slab = s.slab(row);
    int off = s.offset(row);
    spec.initializer().fill(seed, spec.name(), id, slab, off, dim);
    for (int k = 0; k < optimizer.slots(); k++) {
      int slot = off + (k + 1) * dim;
      Arrays.fill(slab, slot, slot + dim, optimizer.initialSlot(k));
    }
    size++;
    return row;
  }
}
