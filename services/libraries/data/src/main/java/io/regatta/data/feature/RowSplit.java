package io.regatta.data.feature;

import io.regatta.core.hash.Mix64;
import io.regatta.data.RowFormat.Place;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The rows of some parts of a split into training, validation and test rows, a function of each row's position.
 * Immutable.
 */
public final class RowSplit {

  /** The parts of a split. */
  public enum Part { TRAIN, VALIDATION, TEST }

  /**
   * The first rows of the parts that are chosen by position.
   *
   * @param validation the first validation row
   * @param test the first test row
   */
  public record Boundaries(Optional<Place> validation, Optional<Place> test) {

    /** No part is chosen by position, or none has a row. */
    public static final Boundaries NONE = new Boundaries(Optional.empty(), Optional.empty());
  }

  /** All rows. */
  public static final RowSplit ALL = new RowSplit(RowParts.NONE, Boundaries.NONE, EnumSet.allOf(Part.class));

  private static final double UNIT = 0x1p-53;
  private static final int UNUSED_BITS = 11;

  private final RowParts shares;
  private final Place validation;
  private final Place test;
  private final Set<Part> parts;

  /**
   * Creates a part of a split. By hash, a row's part follows from its line and its file's name without directories.
   *
   * @param boundaries of the parts by position; a part without one is empty
   */
  RowSplit(RowParts shares, Boundaries boundaries, Set<Part> parts) {
    this.shares = shares;
    validation = boundaries.validation().orElse(null);
    test = boundaries.test().orElse(null);
    this.parts = parts;
  }

  /** Returns true if all rows are in this part. */
  public boolean isAll() {
    return parts.size() == Part.values().length || parts.contains(Part.TRAIN) && shares.equals(RowParts.NONE);
  }

  /** Returns true if the row of this position is in this part. */
  public boolean has(Place place) {
    return parts.contains(part(place));
  }

  private Part part(Place place) {
    double number = shares.byHash() > 0 ? number(place) : 1;
    double beforeValidation = shares.test().needsBoundary() ? 0 : shares.test().share();
    if (shares.test().needsBoundary() ? isFrom(test, place) : number < shares.test().share()) {
      return Part.TEST;
    }
    return shares.validation().needsBoundary() ? isFrom(validation, place) ? Part.VALIDATION : Part.TRAIN
        : number - beforeValidation < shares.validation().share() ? Part.VALIDATION : Part.TRAIN;
  }

  private static boolean isFrom(Place first, Place place) {
    if (first == null) {
      return false;
    }
    int byFile = Integer.compare(place.fileNumber(), first.fileNumber());
    return byFile > 0 || byFile == 0 && place.line() >= first.line();
  }

  /** Returns a number from 0 to less than 1 for a row. */
  private static double number(Place place) {
    String name = place.file().substring(place.file().lastIndexOf('/') + 1); // directories differ between machines
    return (Mix64.mix(Mix64.text(name) + Mix64.GOLDEN * place.line()) >>> UNUSED_BITS) * UNIT;
  }
}
