package io.regatta.core.optim;

/** A range of numbers, as a test and in words. NaN and infinity are in none. */
public enum Range {
  NOT_NEGATIVE("a finite number, 0 or more"),
  POSITIVE("a finite number above 0"),
  /** Decay factors: 1 would never forget. */
  FRACTION("0 or more and below 1");

  private final String words;

  Range(String words) {
    this.words = words;
  }

  /** Returns the words for messages and pages, which continue "it must be". */
  public String words() {
    return words;
  }

  /** Returns true if the value is in the range. */
  public boolean holds(double value) {
    return switch (this) {
      case NOT_NEGATIVE -> value >= 0 && Double.isFinite(value);
      case POSITIVE -> value > 0 && Double.isFinite(value);
      case FRACTION -> value >= 0 && value < 1;
    };
  }
}
