package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.RowFormat.Place;
import java.util.Locale;
import java.util.Optional;

/**
 * The share of the rows of the training files that tests the model. Immutable.
 *
 * @param share 0 (none) to less than 1
 */
public record TestPart(double share, By by) {

  /** No test rows. */
  public static final TestPart NONE = new TestPart(0, By.HASH);

  /** The choice of the test rows. */
  public enum By {
    /** The last rows. */
    POSITION,
    /** Rows by a hash of their line and their file's name. */
    HASH
  }

  public TestPart {
    if (!(share >= 0 && share < 1)) {
      throw new InvalidInput("the test share must be from 0 to less than 1, not " + share);
    }
  }

  /** Returns the form that statistics note, such as {@code position 0.2}; empty without test rows. */
  @Override
  public String toString() {
    return share == 0 ? "" : by.name().toLowerCase(Locale.ROOT) + " " + share;
  }

  /** Returns true if the first test row must be found by counting all rows. */
  public boolean needsBoundary() {
    return share > 0 && by == By.POSITION;
  }

  /**
   * Returns one part of the rows.
   *
   * @param boundary the first test row, by {@link By#POSITION}
   */
  public RowSplit split(Optional<Place> boundary, boolean test) {
    return by == By.POSITION ? RowSplit.byPosition(boundary.orElse(null), test) : RowSplit.byHash(share, test);
  }
}
