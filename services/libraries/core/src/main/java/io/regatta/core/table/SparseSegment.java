package io.regatta.core.table;

import java.util.Arrays;

/**
 * One segment of a {@link SparseTable}: rows numbered 0, 1, 2 … in the order of their creation, and an index from id to
 * number. Rows stay where they are. A removed row leaves its number, and its memory, to a row created later. Owned by
 * the table's thread.
 *
 * <p>A row is {@code width} floats after its id, which lies in the raw bits of two floats. A look-up thus finds the id
 * on the cache line of the row, which its caller reads anyway. HotSpot on x86-64 and AArch64 keeps the bits of any
 * float that it moves (decision 0012). Rows lie in slabs of a fixed size; only a first, small one is ever copied.
 *
 * <p>The index is a hash table of open addressing with linear probing (Knuth, "The Art of Computer Programming", volume
 * 3, 6.4). A slot holds a row number and, in the remaining bits, part of the id's hash, so that a probe seldom reads a
 * row in vain. Growth allocates an index of twice the size; each row created later then moves a few slots into it.
 * Until all are moved a look-up may need both, so that no single creation pays for a whole segment. A removal closes
 * the gap that it would leave in the index (there, algorithm R), so that look-ups never pass over removed rows.
 */
final class SparseSegment {

  static final int NONE = -1;
  /** Number of floats before a row, for its id. */
  static final int ID_FLOATS = 2;

  /** Number of floats in a slab: so large that the cache lines with the lengths of all slabs stay in a cache. */
  private static final int SLAB_FLOATS = 1 << 14;
  /** Initial number of rows in the first slab: 256 nearly empty segments must cost little. */
  private static final int FIRST_ROWS = 8;
  /** Set in every slot that is taken. */
  private static final int TAKEN = 1 << 31;
  private static final int MIN_SLOTS = 8;
  private static final int MAX_SLOTS = 1 << 25;
  /** Number of rows that fit a segment of the lowest load factor. */
  static final long ROWS_MAX = MAX_SLOTS / 2;
  /** Number of rows moved with each creation during growth; all are moved long before the next growth. */
  private static final int MOVED = 64;

  private final int stride;
  private final int slabShift;
  private final int slabMask;
  private final float load;
  private float[][] slabs = {{}};
  private int size;
  /**
   * {@link #TAKEN}, bits of the hash, and the row number in the lowest bits; 0 is empty. The length is a power of two.
   */
  private int[] slots = new int[MIN_SLOTS];
  /** Number of rows at which the index grows. */
  private int room;
  /** The former index while rows from {@link #moved} to {@link #formerRows} still have to be moved, else null. */
  private int[] former;
  private int formerRows;
  private int moved;
  /** A bit for each removed row whose number is free; null while none has ever been removed. */
  private long[] removed;
  /** The row removed last, whose first value holds (in its bits) the one removed before it; or {@link #NONE}. */
  private int free = NONE;

  SparseSegment(int width, float load) {
    stride = width + ID_FLOATS;
    slabShift = Integer.numberOfTrailingZeros(Integer.highestOneBit(Math.max(1, SLAB_FLOATS / stride)));
    slabMask = (1 << slabShift) - 1;
    this.load = load;
    room = (int) (load * MIN_SLOTS);
  }

  /** Returns the number of row numbers in use, those of removed rows included. */
  int size() {
    return size;
  }

  /** Returns the array that holds the row. */
  float[] slab(int row) {
    return slabs[row >> slabShift];
  }

  /** Returns the index in {@link #slab} where the row's values start. */
  int offset(int row) {
    return (row & slabMask) * stride + ID_FLOATS;
  }

  long id(int row) {
    float[] slab = slabs[row >> slabShift];
    int at = (row & slabMask) * stride;
    return (long) Float.floatToRawIntBits(slab[at]) << Integer.SIZE
        | Float.floatToRawIntBits(slab[at + 1]) & 0xffff_ffffL;
  }

  /** Returns the row number of the id, or -1. */
  int find(long id, long hash) {
    int row = find(slots, id, hash);
    return row < 0 && former != null ? find(former, id, hash) : row;
  }

  private int find(int[] slots, long id, long hash) {
    int mask = slots.length - 1;
    int at = home(hash, mask);
    for (int slot = slots[at]; slot != 0; slot = slots[at = at + 1 & mask]) {
      if (tagged(slot, hash, mask) && id(slot & mask) == id) {
        return slot & mask;
      }
    }
    return NONE;
  }

  /**
   * Returns the first row whose slot has these bits of the hash, or -1; it is seldom that of another id. A caller that
   * looks up many ids compares {@link #id} later, and then falls back on {@link #find}.
   */
  int likely(long hash) {
    int mask = slots.length - 1;
    int at = home(hash, mask);
    for (int slot = slots[at]; slot != 0; slot = slots[at = at + 1 & mask]) {
      if (tagged(slot, hash, mask)) {
        return slot & mask;
      }
    }
    return NONE;
  }

  /** Adds a zeroed row for an id that has none; returns its number. Without memory for it, nothing is added. */
  int add(long id, long hash) {
    if (free != NONE) {
      return addAgain(id, hash);
    }
    float[] slab = slabFor(size);
    if (size == room) {
      grow();
    }
    name(slab, (size & slabMask) * stride, id);
    put(hash, size);
    size++;
    if (former != null) {
      move();
    }
    return size - 1;
  }

  /** Adds a row under the number of the row that was removed last. */
  private int addAgain(long id, long hash) {
    int row = free;
    float[] slab = slab(row);
    int off = offset(row);
    free = Float.floatToRawIntBits(slab[off]);
    removed[row >> 6] &= ~(1L << row);
    Arrays.fill(slab, off, off + stride - ID_FLOATS, 0);
    name(slab, off - ID_FLOATS, id);
    put(hash, row);
    return row;
  }

  private static void name(float[] slab, int at, long id) {
    slab[at] = Float.intBitsToFloat((int) (id >>> Integer.SIZE));
    slab[at + 1] = Float.intBitsToFloat((int) id);
  }

  /** Returns true if a row number below {@link #size} has a row, that is, if it has not been removed. */
  boolean holds(int row) {
    return removed == null || row >> 6 >= removed.length || (removed[row >> 6] >>> row & 1) == 0;
  }

  /** Removes an existing row. */
  void remove(int row) {
    long hash = SparseTable.hash(id(row));
    int words = (size >> 6) + 1;
    if (removed == null || removed.length < words) {
      removed = removed == null ? new long[words] : Arrays.copyOf(removed, words + (words >> 1));
    }
    unlink(slots, row, hash);
    if (former != null) {
      unlink(former, row, hash);
    }
    removed[row >> 6] |= 1L << row;
    slab(row)[offset(row)] = Float.intBitsToFloat(free);
    free = row;
  }

  /**
   * Removes a row from an index, if it is there, and moves up the slots after it that a look-up would otherwise not
   * reach.
   */
  private void unlink(int[] slots, int row, long hash) {
    int mask = slots.length - 1;
    int hole = home(hash, mask);
    while ((slots[hole] & mask) != row || slots[hole] == 0) {
      if (slots[hole] == 0) {
        return;
      }
      hole = hole + 1 & mask;
    }
    for (int next = hole + 1 & mask; slots[next] != 0; next = next + 1 & mask) {
      int home = home(SparseTable.hash(id(slots[next] & mask)), mask);
      if ((next - home & mask) >= (next - hole & mask)) {
        slots[hole] = slots[next];
        hole = next;
      }
    }
    slots[hole] = 0;
  }

  private float[] slabFor(int row) {
    int slab = row >> slabShift;
    if (slab == 0) {
      if (row * stride == slabs[0].length) {
        slabs[0] = Arrays.copyOf(slabs[0], Math.min(Math.max(FIRST_ROWS, 2 * row), slabMask + 1) * stride);
      }
    } else {
      if (slab == slabs.length) {
        slabs = Arrays.copyOf(slabs, slab + Math.max(1, slab >> 1));
      }
      if (slabs[slab] == null) {
        slabs[slab] = new float[stride << slabShift];
      }
    }
    return slabs[slab];
  }

  private void grow() {
    if (slots.length == MAX_SLOTS) {
      throw new IllegalStateException("a segment of " + size + " rows is full, though tables are limited to fewer");
    }
    int[] larger = new int[2 * slots.length];
    former = slots;
    formerRows = size;
    moved = 0;
    slots = larger;
    room = (int) (load * larger.length);
  }

  /** Moves some rows to the new index; rows created since growth began are in it already. */
  private void move() {
    int to = Math.min(moved + MOVED, formerRows);
    for (; moved < to; moved++) {
      long hash = SparseTable.hash(id(moved));
      if (removed == null || holds(moved) && find(slots, id(moved), hash) == NONE) { // or born again since growth began
        put(hash, moved);
      }
    }
    if (moved == formerRows) {
      former = null;
    }
  }

  private void put(long hash, int row) {
    int mask = slots.length - 1;
    int at = home(hash, mask);
    while (slots[at] != 0) {
      at = at + 1 & mask;
    }
    slots[at] = TAKEN | (int) hash & ~mask | row;
  }

  /**
   * Returns the first slot to probe, from bits that neither choose the segment (the upper 8) nor are in the slots (the
   * lower 31).
   */
  private static int home(long hash, int mask) {
    return (int) (hash >>> 31) & mask;
  }

  private static boolean tagged(int slot, long hash, int mask) {
    return ((slot ^ (int) hash) & ~mask & ~TAKEN) == 0;
  }
}
