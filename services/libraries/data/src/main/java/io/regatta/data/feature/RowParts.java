package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.RowSplit.Part;
import java.util.EnumSet;
import java.util.Locale;

/**
 * The shares of the rows of the training files that test and validate the model; the others train it. Immutable.
 *
 * @param test by position: the last rows
 * @param validation by position: the last rows before those; a test row by hash is no validation row
 */
public record RowParts(TestPart test, TestPart validation) {

  /** All rows are training rows. */
  public static final RowParts NONE = new RowParts(TestPart.NONE, TestPart.NONE);

  public RowParts {
    if (test.share() + validation.share() >= 1) {
      throw new InvalidInput("the shares of the test rows and of the validation rows are " + test.share() + " and "
          + validation.share() + ": they must add up to less than 1");
    }
  }

  /** Returns true if a first row must be found by counting all rows. */
  public boolean needBoundary() {
    return test.needsBoundary() || validation.needsBoundary();
  }

  /** Returns the share of the rows that leave training by their hash. */
  double byHash() {
    return (test.needsBoundary() ? 0 : test.share()) + (validation.needsBoundary() ? 0 : validation.share());
  }

  /** Returns the number of training rows, of all rows, before the first one that is a validation or a test row by position. */
  long validationFrom(long rows) {
    return testFrom(rows) - (validation.needsBoundary() ? (long) Math.floor(rows * validation.share()) : 0);
  }

  /** Returns the number of rows before the first test row by position. */
  long testFrom(long rows) {
    return rows - (test.needsBoundary() ? (long) Math.floor(rows * test.share()) : 0);
  }

  /** Returns one part of the rows. */
  public RowSplit split(Boundaries boundaries, Part part) {
    return new RowSplit(this, boundaries, EnumSet.of(part));
  }

  /** Returns the form that statistics note, such as {@code position 0.2, validation hash 0.1}; empty without either. */
  @Override
  public String toString() {
    String ofTest = text(test);
    return validation.share() == 0 ? ofTest : (ofTest.isEmpty() ? "" : ofTest + ", ") + "validation " + text(validation);
  }

  private static String text(TestPart part) {
    return part.share() == 0 ? "" : part.by().name().toLowerCase(Locale.ROOT) + " " + part.share();
  }
}
