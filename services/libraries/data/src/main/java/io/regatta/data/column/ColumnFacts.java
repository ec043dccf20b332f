package io.regatta.data.column;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * Facts of one column. Immutable.
 *
 * @param rows that were seen
 * @param missing rows without a value
 * @param distinct number of distinct values
 * @param distinctError relative standard error of that number; 0: it is exact
 * @param numbers facts of the values that are numbers; empty if most are not
 * @param labelAuc AUC that this column alone reaches for a binary label, 0.5 to 1; NaN: not known
 */
public record ColumnFacts(Type type, long rows, long missing, long distinct, double distinctError, Optional<Numbers> numbers,
    double labelAuc) {

  /** AUC from which on a column gives the label away. */
  public static final double GIVES_AWAY = 0.99;

  /** Rows from which on a column is judged. */
  private static final int JUDGED_ROWS = 100;
  private static final double NEARLY_ALL = 0.95;

  /** The type of all values of a column. */
  public enum Type {
    /** There are none. */
    EMPTY,
    WHOLE, NUMBER,
    /** Text that begins with a date, {@code 2026-01-31}. */
    TIME,
    TEXT, LIST
  }

  /**
   * Facts of numbers.
   *
   * @param quantiles at {@link #RANKS}
   * @param rankError of the quantiles at 99 % confidence; 0: they are exact
   */
  public record Numbers(double min, double max, double mean, double deviation, List<Double> quantiles, double rankError) {

    /** Ranks of the quantiles. */
    public static final List<Double> RANKS = List.of(0.01, 0.25, 0.5, 0.75, 0.99);

    public Numbers {
      quantiles = List.copyOf(quantiles);
    }
  }

  /** Returns true if no row has a value. */
  public boolean isEmpty() {
    return missing == rows;
  }

  /** Returns true if all values are equal, and none is missing. */
  public boolean isConstant() {
    return distinct == 1 && missing == 0 && rows >= JUDGED_ROWS;
  }

  /** Returns true if nearly every row has a value of its own that is no number, so that little can be learned of it. */
  public boolean isUnique() {
    return rows >= JUDGED_ROWS && type != Type.NUMBER && distinct >= NEARLY_ALL * rows;
  }

  /** Returns true if the column alone gives the label away. */
  public boolean givesLabelAway() {
    return rows >= JUDGED_ROWS && labelAuc > GIVES_AWAY;
  }

  /**
   * Returns what may mislead about a column, in words that follow its name.
   *
   * @param id true if a feature looks its values up
   */
  public List<String> problems(boolean id) {
    List<String> problems = new ArrayList<>();
    if (isEmpty()) {
      problems.add("has no value in any of " + rows + " rows");
    } else if (isConstant()) {
      problems.add("has the same value in all " + rows + " rows");
    } else if (id && isUnique()) {
      problems.add("has a value of its own in nearly every row (" + distinct + " in " + rows + "), of which nothing can be learned; "
          + "set min_count or hash_buckets, or take the feature out");
    }
    if (givesLabelAway()) {
      problems.add(String.format(Locale.ROOT, "gives the label away: alone it reaches AUC %.3f; is it known when a prediction "
          + "is wanted?", labelAuc));
    }
    return problems;
  }
}
