package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * A share of the rows of the training files that the model is not trained on. Immutable.
 *
 * @param share 0 (none) to less than 1
 */
public record TestPart(double share, By by) {

  /** No rows. */
  public static final TestPart NONE = new TestPart(0, By.HASH);

  /** The choice of the rows. */
  public enum By {
    /** The last rows. */
    POSITION,
    /** Rows by a hash of their line and their file's name. */
    HASH
  }

  public TestPart {
    if (!(share >= 0 && share < 1)) {
      throw new InvalidInput("the share must be from 0 to less than 1, not " + share);
    }
  }

  /** Returns true if the first row must be found by counting all rows. */
  public boolean needsBoundary() {
    return share > 0 && by == By.POSITION;
  }
}
