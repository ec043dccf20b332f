package io.regatta.load.process;

/**
 * The decision when an operation is warm. It is when three times in a row a block was no more than 5 % faster than the
 * one before, or when the limit is over. Server and client compile for ten seconds and more. For one thread.
 */
final class Steady {
  private static final double FASTER = 0.95;
  private static final int TIMES = 3;

  private final double limitSeconds;
  private double spent;
  private double before = Double.POSITIVE_INFINITY;
  private int level;

  Steady(Scale scale) {
    limitSeconds = scale.warmUpLimitSeconds();
  }

  /** Counts a block of this number of operations; returns whether it is time to measure. */
  boolean after(double seconds, int times) {
    double each = seconds / times;
    level = each < before * FASTER ? 0 : level + 1;
    before = each;
    spent += seconds;
    return level >= TIMES || spent >= limitSeconds;
  }
}
