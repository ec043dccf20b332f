package io.regatta.load.run;

/**
 * How long a run takes.
 *
 * @param rounds measurements of every figure, interleaved over the kinds
 * @param warmUpSeconds of every kind and operation before the first round
 * @param blockSeconds about the time that one measurement takes
 */
public record Scale(int rounds, double warmUpSeconds, double blockSeconds) {

  public static final Scale FULL = new Scale(5, 5, 1.5);
  /** All drivers in less than five minutes. */
  public static final Scale QUICK = new Scale(5, 1, 0.25);
}
