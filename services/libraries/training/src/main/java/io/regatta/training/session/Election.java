package io.regatta.training.session;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The election of the rank that does something for all: {@link RankCalls#byTheLowest}. Stateless; in the caller's
 * thread.
 */
final class Election {

  /** Places in what a rank says; what it tells the others follows. */
  private static final int SELF = 0;
  private static final int STATE = 1;
  private static final int TOLD = 2;

  private static final int UNABLE = -1;
  private static final int ABLE = 0;
  private static final int DONE = 1;

  private Election() {}

  /** One exchange of what the ranks say; those that are lost meanwhile say nothing. */
  interface Round {

    /**
     * Gathers what all ranks say.
     *
     * @param number of the round, from 0
     * @return in the order of ranks
     */
    List<double[]> gather(int number, double[] mine);
  }

  /**
   * Holds it.
   *
   * @param self number that this rank alone has
   * @param first whether it is the lowest of all ranks, which begins without being asked
   */
  static double[] byTheLowest(double self, boolean first, boolean able, Supplier<double[]> deed, Round round) {
    boolean chosen = able && first;
    for (int number = 0; ; number++) {
      double[] told = chosen ? deed.get() : new double[0];
      double[] mine = new double[TOLD + told.length];
      mine[SELF] = self;
      mine[STATE] = chosen ? DONE : able ? ABLE : UNABLE;
      System.arraycopy(told, 0, mine, TOLD, told.length);
      List<double[]> all = round.gather(number, mine);
      for (double[] of : all) {
        if (of[STATE] == DONE) {
          return Arrays.copyOfRange(of, TOLD, of.length);
        }
      }
      List<double[]> candidates = all.stream().filter(of -> of[STATE] == ABLE).toList();
      if (candidates.isEmpty()) {
        return new double[0];
      }
      chosen = candidates.get(0)[SELF] == self;
    }
  }
}
