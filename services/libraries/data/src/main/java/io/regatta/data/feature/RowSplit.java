package io.regatta.data.feature;

import io.regatta.core.hash.Mix64;
import io.regatta.data.RowFormat.Place;

/** The rows of one part of a split into training and test rows, a function of each row's position. Immutable. */
public final class RowSplit {

  /** All rows. */
  public static final RowSplit ALL = new RowSplit(0, null, false);

  private static final double UNIT = 0x1p-53;
  private static final int UNUSED_BITS = 11;

  private final double share;
  private final Place boundary;
  private final boolean test;

  private RowSplit(double share, Place boundary, boolean test) {
    this.share = share;
    this.boundary = boundary;
    this.test = test;
  }

  /**
   * Returns a part of a split by a hash of the row's line and of its file's name without directories.
   *
   * @param share of the test rows, 0 to 1
   * @param test true: the test rows; false: the others
   */
  public static RowSplit byHash(double share, boolean test) {
    return new RowSplit(share, null, test);
  }

  /**
   * Returns a part of a split by position.
   *
   * @param boundary the first test row; null: there is none
   * @param test true: the test rows; false: the others
   */
  public static RowSplit byPosition(Place boundary, boolean test) {
    return boundary == null ? byHash(0, test) : new RowSplit(0, boundary, test);
  }

  /** Returns true if all rows are in this part. */
  public boolean isAll() {
    return !test && boundary == null && share == 0;
  }

  /** Returns true if the row of this position is in this part. */
  public boolean has(Place place) {
    return isTest(place) == test;
  }

  private boolean isTest(Place place) {
    if (boundary != null) {
      int byFile = Integer.compare(place.fileNumber(), boundary.fileNumber());
      return byFile > 0 || byFile == 0 && place.line() >= boundary.line();
    }
    if (share == 0) {
      return false;
    }
    String name = place.file().substring(place.file().lastIndexOf('/') + 1); // directories differ between machines
    return (Mix64.mix(Mix64.text(name) + Mix64.GOLDEN * place.line()) >>> UNUSED_BITS) * UNIT < share;
  }
}
