package io.regatta.core.reduce;

import io.regatta.core.hash.Mix64;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A reusable store of rows by id, in the order in which the ids first occur. Owned by one thread at a time. It grows a
 * little at a time: no operation takes longer the more rows it holds, except for a 256th of an index that doubles.
 *
 * <p>Rows lie in slabs of {@value #SLAB_ROWS}. The index consists of 256 hash tables of open addressing with linear
 * probing (Knuth, "The Art of Computer Programming", volume 3, 6.4), at most half full. Each is cleared when it is
 * first needed again.
 */
public final class RowRoom {

  /** Number of rows in a slab. */
  static final int SLAB_ROWS = 1024;

  private static final int PARTS = 256;
  private static final int PART_SHIFT = Long.SIZE - 8;
  private static final int MIN_SLOTS = 16;
  /** Number of rows above which the memory is released. */
  private static final int KEPT_ROWS = 1 << 18;

  private final List<long[]> ids = new ArrayList<>();
  private final List<float[]> values = new ArrayList<>();
  /** Row number + 1, or 0 where there is none; the length of each part is a power of two. */
  private int[][] index = new int[PARTS][];
  private final int[] used = new int[PARTS];
  /** Number of the use in which each part of the index was last cleared. */
  private final long[] usedIn = new long[PARTS];
  private long use;
  private int dim;
  private int size;

  /** Empties it, for rows of {@code dim} floats. */
  void clear(int dim) {
    if (dim != this.dim) {
      giveBack();
    }
    this.dim = dim;
    size = 0;
    use++;
  }

  /** Ends the use of its content; keeps memory for the next use, unless there is much of it. */
  public void done() {
    if (size > KEPT_ROWS) {
      giveBack();
    }
  }

  private void giveBack() {
    size = 0;
    ids.clear();
    values.clear();
    index = new int[PARTS][];
  }

  /** Returns the number of rows. */
  int size() {
    return size;
  }

  /** Returns the row of an id. A new id gets the number that {@link #size} was before, and its floats are undefined. */
  int rowOf(long id) {
    long hash = Mix64.mix(id);
    int part = (int) (hash >>> PART_SHIFT);
    int[] slots = slots(part);
    int at = place(slots, id, hash);
    if (slots[at] != 0) {
      return slots[at] - 1;
    }
    add(id);
    slots[at] = size;
    if (2 * ++used[part] > slots.length) {
      index[part] = grown(slots);
    }
    return size - 1;
  }

  private int[] slots(int part) {
    if (usedIn[part] != use || index[part] == null) {
      usedIn[part] = use;
      used[part] = 0;
      if (index[part] == null) {
        index[part] = new int[MIN_SLOTS];
      } else {
        Arrays.fill(index[part], 0);
      }
    }
    return index[part];
  }

  /** Returns the slot where the id is, or would be. */
  private int place(int[] slots, long id, long hash) {
    int mask = slots.length - 1;
    int at = (int) hash & mask;
    while (slots[at] != 0 && id(slots[at] - 1) != id) {
      at = at + 1 & mask;
    }
    return at;
  }

  private int[] grown(int[] slots) {
    int[] larger = new int[2 * slots.length];
    for (int slot : slots) {
      if (slot != 0) {
        long id = id(slot - 1);
        larger[place(larger, id, Mix64.mix(id))] = slot;
      }
    }
    return larger;
  }

  private void add(long id) {
    if (size == ids.size() * SLAB_ROWS) {
      values.add(new float[Math.multiplyExact(SLAB_ROWS, dim)]);
      ids.add(new long[SLAB_ROWS]);
    }
    idsOf(size)[size % SLAB_ROWS] = id;
    size++;
  }

  private long id(int row) {
    return idsOf(row)[row % SLAB_ROWS];
  }

  /** Returns the ids of the row's slab, in which it has index {@code row % SLAB_ROWS}. */
  long[] idsOf(int row) {
    return ids.get(row / SLAB_ROWS);
  }

  /** Returns the floats of the row's slab. */
  float[] valuesOf(int row) {
    return values.get(row / SLAB_ROWS);
  }
}
