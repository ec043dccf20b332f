package io.regatta.core.table;

import io.regatta.core.error.RegattaException.Overloaded;
import java.util.ArrayDeque;

/**
 * A walk over the rows of a table as they are when it begins, slice by slice, while the table continues to change. A
 * row that is about to change before the walk has reached it is copied first, and only then (copy-before-write, by
 * row). It takes a bit of memory per row, and the copies that have not been fetched; copies are returned first. Beyond
 * a limit of copies the walk fails with an error that says so. Owned by the table's thread. A table has one walk at a
 * time.
 */
public final class RowWalk {

  /** Number of floats, about, in a page of copies. */
  private static final int PAGE_FLOATS = 1 << 14;

  /** Bits of no row of any segment; never written to. */
  private static final long[][] NONE = new long[SparseTable.SEGMENTS][];

  private static final class Page {
    private final long[] ids;
    private final float[] floats;
    private int n;

    Page(int rows, int width) {
      ids = new long[rows];
      floats = new float[rows * width];
    }
  }

  private final SparseTable table;
  private final int width;
  private final long keptMax;
  /** End of the row numbers in use when the walk began, by segment. */
  private final int[] ends;
  /** Rows to walk over; null: all rows. */
  private final ChangedRowSet only;
  /** Rows that the walk must not visit any more, by segment; null: none of the segment. */
  private long[][] passed = NONE;
  private final ArrayDeque<Page> kept = new ArrayDeque<>();
  private final long rows;
  private long keptFloats;
  private int segment;
  private int row;
  private boolean overrun;
  private boolean closed;

  /**
   * Begins a walk.
   *
   * @param only null: all rows
   * @param keptMax bytes of copies that may wait to be fetched
   */
  RowWalk(SparseTable table, ChangedRowSet only, long keptMax) {
    this.table = table;
    this.only = only;
    this.keptMax = keptMax;
    width = table.layout().width();
    ends = table.rowsBySegment();
    rows = only == null ? table.size() : only.size();
  }

  /** Returns the name of the table. */
  public String table() {
    return table.spec().name();
  }

  /** Returns the number of floats of a whole row. */
  public int width() {
    return width;
  }

  /** Returns the number of rows that the walk returns in all. */
  public long rows() {
    return rows;
  }

  /**
   * Copies the next rows.
   *
   * @param floats whole rows, {@link #width} floats each
   * @return how many, at most as many as fit; 0 after the last one
   * @throws Overloaded if too much has changed before it was fetched
   */
  public int next(long[] ids, float[] floats) {
    if (overrun) {
      throw new Overloaded("more than " + keptMax + " bytes of rows of table " + table() + " have changed before they were "
          + "written; save to a faster disk, or set parameter_server.limits.snapshot_bytes higher");
    }
    if (!kept.isEmpty() && (kept.peek().n == kept.peek().ids.length || segment == ends.length)) {
      Page page = kept.poll();
      keptFloats -= (long) page.n * width;
      System.arraycopy(page.ids, 0, ids, 0, page.n);
      System.arraycopy(page.floats, 0, floats, 0, page.n * width);
      return page.n;
    }
    int n = 0;
    while (n < ids.length && step()) {
      SparseSegment s = table.segmentAt(segment);
      ids[n] = s.id(row);
      System.arraycopy(s.slab(row), s.offset(row), floats, n * width, width);
      n++;
      row++;
    }
    return n == 0 && !kept.isEmpty() ? next(ids, floats) : n;
  }

  /** Returns the smallest number of rows that a slice must have room for. */
  public int leastRoom() {
    return Math.max(1, PAGE_FLOATS / width);
  }

  /** Advances to the next row to return, if there is one. */
  private boolean step() {
    for (; segment < ends.length; segment++, row = 0) {
      for (row = wanted(row); row < ends[segment]; row = wanted(row + 1)) {
        if (!isPassed(segment, row) && table.segmentAt(segment).holds(row)) {
          return true;
        }
      }
      if (passed != NONE) {
        passed[segment] = null;
      }
    }
    return false;
  }

  private int wanted(int from) {
    int next = only == null ? from : only.next(segment, from);
    return next < 0 ? ends[segment] : next;
  }

  private boolean isPassed(int s, int r) {
    return passed[s] != null && (passed[s][r >> 6] >>> r & 1) != 0;
  }

  private boolean isAhead(int s, int r) {
    return !closed && (s > segment || s == segment && r >= row) && r < ends[s] && (only == null || only.has(s, r))
        && !isPassed(s, r);
  }

  /** Excludes a row that the walk has not reached, because it did not exist when the walk began. */
  void pass(int s, int r) {
    if (!closed && (s > segment || s == segment && r >= row) && r < ends[s]) {
      if (passed == NONE) {
        passed = new long[SparseTable.SEGMENTS][];
      }
      if (passed[s] == null) {
        passed[s] = new long[(ends[s] >> 6) + 1];
      }
      passed[s][r >> 6] |= 1L << r;
    }
  }

  /** Copies a row that is about to change, if the walk has not reached it. */
  void keep(int s, int r) {
    if (!isAhead(s, r)) {
      return;
    }
    pass(s, r);
    if (keptFloats * Float.BYTES >= keptMax) {
      overrun = true;
      close();
      return;
    }
    Page page = kept.peekLast();
    if (page == null || page.n == page.ids.length) {
      page = new Page(leastRoom(), width);
      kept.addLast(page);
    }
    SparseSegment from = table.segmentAt(s);
    page.ids[page.n] = from.id(r);
    System.arraycopy(from.slab(r), from.offset(r), page.floats, page.n * width, width);
    page.n++;
    keptFloats += width;
  }

  /** Ends the walk, after which the table changes without copies. */
  public void close() {
    closed = true;
    kept.clear();
  }
}
