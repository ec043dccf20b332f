package io.regatta.trainer.session;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

/**
 * The election of the rank that runs an operation for all: {@link RankCalls#byTheLowest}. Stateless; runs on the
 * caller's thread.
 */
final class Election {

  /** Indices in a rank's row; its result follows. */
  private static final int SELF = 0;
  private static final int STATE = 1;
  private static final int RESULT = 2;

  private static final int UNABLE = -1;
  private static final int ABLE = 0;
  private static final int DONE = 1;

  private Election() {}

  /** One exchange of the ranks' rows; those that are lost meanwhile give none. */
  interface Round {

    /**
     * Gathers the rows of all ranks.
     *
     * @param number of the round, from 0
     * @return in the order of ranks
     */
    List<double[]> gather(int number, double[] mine);
  }

  /**
   * Runs the election and the operation.
   *
   * @param self number that only this rank has
   * @param first true if it is the lowest of all ranks, which begins at once
   */
  static double[] byTheLowest(double self, boolean first, boolean able, Supplier<double[]> deed, Round round) {
    boolean chosen = able && first;
    for (int number = 0; ; number++) {
      double[] result = chosen ? deed.get() : new double[0];
      double[] mine = new double[RESULT + result.length];
      mine[SELF] = self;
      mine[STATE] = chosen ? DONE : able ? ABLE : UNABLE;
      System.arraycopy(result, 0, mine, RESULT, result.length);
      List<double[]> all = round.gather(number, mine);
      for (double[] of : all) {
        if (of[STATE] == DONE) {
          return Arrays.copyOfRange(of, RESULT, of.length);
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
