package io.regatta.core.table;

import io.regatta.core.model.SparseTableSpec;

/**
 * The layout of a row of a {@link SparseTable}, starting at the row's offset in its slab; the id is before it. No other
 * class defines it. Immutable.
 *
 * <table>
 * <caption>Floats of a row.</caption>
 * <tr><td>{@code dim} values</td><td>Written by the initializer, then by the optimizer, or by deltas (geo).</td></tr>
 * <tr><td>{@code slots} × {@code dim} optimizer slots</td><td>One slot after another. Written by the
 * optimizer.</td></tr>
 * <tr><td>{@value #LIFE_COLUMNS} columns, in tracked tables only</td><td>Written by {@link RowLife}. Pushes and shrinks
 * write {@link #SHOW} and {@link #CLICK}. Training pulls write {@link #PULLS}, {@link #SEEN} and {@link #UNSEEN}.
 * Updates in rounds write {@link #PULLS}, too, and ends of day {@link #UNSEEN}. The last column is written when the row
 * is created.</td></tr>
 * </table>
 *
 * @param dim values
 * @param slots optimizer slots per value
 * @param tracked whether the table keeps columns about the life of its rows
 */
public record RowLayout(int dim, int slots, boolean tracked) {

  /** Columns of a tracked row after its slots. */
  public static final int LIFE_COLUMNS = 6;
  /** Number of examples that had the id, decayed. */
  public static final int SHOW = 0;
  /** Number of clicks among them, decayed. */
  public static final int CLICK = 1;
  /** Raw bits of an int: training pulls (in rounds: updates) in the lower 31 bits; the sign bit is set once the row is admitted. */
  public static final int PULLS = 2;
  /** Ends of day since the last training pull. */
  public static final int UNSEEN = 3;
  /** Raw bits of an int: date of the last training pull by the job's training clock, s, unsigned. */
  public static final int SEEN = 4;
  /**
   * Raw bits of an int: number of walks that had begun when the row was created; valid in this instance of the table
   * only.
   */
  public static final int BORN = 5;

  /** Returns the layout of a table's rows. */
  public static RowLayout of(SparseTableSpec spec) {
    return new RowLayout(spec.dim(), spec.optimizer().optimizer().slots().size(), spec.life().isTracked());
  }

  /** Returns the number of floats of a row. */
  public int width() {
    return Math.multiplyExact(dim, 1 + slots) + (tracked ? LIFE_COLUMNS : 0);
  }

  /** Returns the index of the first column about the row's life. */
  public int life() {
    return dim * (1 + slots);
  }
}
