package io.regatta.load.process;

/**
 * The length of a run.
 *
 * @param rounds measurements of every figure, interleaved over the kinds
 * @param warmUpLimitSeconds the most that every kind and operation is warmed up before the first round, see
 *     {@link Steady}
 * @param blockSeconds about the time that one measurement takes, and a block of the warm-up
 */
public record Scale(int rounds, double warmUpLimitSeconds, double blockSeconds) {

  public static final Scale FULL = new Scale(5, 15, 1.5);
  /** All drivers in less than five minutes. */
  public static final Scale QUICK = new Scale(5, 2, 0.25);

  /** Returns how many operations of this length fit a block. */
  public int fits(double seconds) {
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, Math.round(blockSeconds / seconds)));
  }
}
