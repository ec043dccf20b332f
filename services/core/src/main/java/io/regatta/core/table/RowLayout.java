package io.regatta.core.table;

import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.Optimizer;

/**
 * What lies where in a row of a {@link SparseTable}, from the row's offset in its slab on; the id is before it. The one
 * place that says so. Immutable.
 *
 * <table>
 * <caption>floats of a row</caption>
 * <tr><td>{@code dim} values</td><td>written by the initializer, then by the optimizer, or by deltas (geo)</td></tr>
 * <tr><td>{@code slots} × {@code dim} optimizer slots</td><td>slot k behind slot k-1; written by the optimizer</td></tr>
 * <tr><td>in tracked tables {@value #LIFE_COLUMNS} columns</td><td>written by {@link RowLife}: {@link #SHOW} and
 * {@link #CLICK} by pushes and shrinks, {@link #PULLS} and {@link #SEEN} by training pulls (in rounds the former by
 * updates), {@link #UNSEEN} by both pulls and ends of day, {@link #BORN} by births</td></tr>
 * </table>
 *
 * @param dim values
 * @param slots optimizer slots per value
 * @param tracked whether the table keeps columns about the life of its rows
 */
public record RowLayout(int dim, int slots, boolean tracked) {

  /** Columns of a tracked row behind its slots. */
  public static final int LIFE_COLUMNS = 6;
  /** Examples that had the id, decayed. */
  public static final int SHOW = 0;
  /** Clicks among them, decayed. */
  public static final int CLICK = 1;
  /** Raw bits of an int: training pulls (in rounds: updates) in the lower 31 bits; the sign bit is set once the row is admitted. */
  public static final int PULLS = 2;
  /** Ends of day since the last training pull. */
  public static final int UNSEEN = 3;
  /** Raw bits of an int: date of the last training pull by the job's training clock, s, unsigned. */
  public static final int SEEN = 4;
  /** Raw bits of an int: walks that had begun when the row was created; of this life of this table only. */
  public static final int BORN = 5;

  /** Returns the layout of a table's rows. */
  public static RowLayout of(SparseTableSpec spec) {
    return new RowLayout(spec.dim(), Optimizer.of(spec.optimizer()).slots(), spec.life().isTracked());
  }

  /** Floats of a row. */
  public int width() {
    return Math.multiplyExact(dim, 1 + slots) + (tracked ? LIFE_COLUMNS : 0);
  }

  /** Where the columns of a row's life begin. */
  public int life() {
    return dim * (1 + slots);
  }
}
