package io.regatta.trainer.rank;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.loop.Clock;
import io.regatta.core.model.ModelSpec;
import io.regatta.trainer.session.TrainerSession;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The state of a rank at the start of a run, which the ranks exchange and on which they must agree; a fixed row of
 * doubles.
 *
 * @param trains false if it ends its run without having made a trainer
 * @param step from which it resumes
 * @param run a number for the run; that of the lowest rank counts, and runs that begin later have higher ones
 * @param modelHigh half of its model's digest, 32 bits, which a double holds exactly
 * @param modelLow the other half
 */
record RankStart(int rank, boolean trains, long step, long run, long modelHigh, long modelLow) {

  private static final int RANDOM_BITS = 12;
  private static final int HEX = 16;

  /** Returns the start of this rank, which trains this model. */
  static RankStart training(TrainerSession session, long step, ModelSpec model) {
    String digest = model.digest();
    int middle = digest.length() / 2;
    return new RankStart(session.trainer().rank(), true, step, newRun(session.clock()), Long.parseLong(digest.substring(0, middle), HEX),
        Long.parseLong(digest.substring(middle), HEX));
  }

  /** Returns the start of this rank, which ends its run without having trained. */
  static RankStart abstaining(TrainerSession session) {
    return new RankStart(session.trainer().rank(), false, 0, newRun(session.clock()), 0, 0);
  }

  /** Returns the time with random bits below it; exact in a double until 2039. */
  private static long newRun(Clock clock) {
    return clock.epochMillis() << RANDOM_BITS | ThreadLocalRandom.current().nextLong(1 << RANDOM_BITS);
  }

  double[] toRow() {
    return new double[] {rank, trains ? 1 : 0, step, run, modelHigh, modelLow};
  }

  /** Returns the starts of all ranks, in rank order. */
  static List<RankStart> ofRows(List<double[]> rows) {
    return rows.stream().map(r -> new RankStart((int) r[0], r[1] == 1, (long) r[2], (long) r[3], (long) r[4], (long) r[5])).toList();
  }

  /** Checks that all ranks resume at the same step: ranks that see different snapshots would not train the same job. */
  static void requireSameStep(String job, List<RankStart> ranks) {
    RankStart first = ranks.get(0);
    for (RankStart of : ranks) {
      if (of.trains && of.step != first.step) {
        throw new InvalidInput("job " + job + ": trainer " + first.rank + " resumes at step " + first.step + ", trainer " + of.rank
            + " at step " + of.step + "; all must see the same snapshots: name a directory that they share");
      }
    }
  }

  /** Checks that all ranks train the same model. With servers, these refuse a trainer of another model. */
  static void requireSameModel(String job, List<RankStart> ranks) {
    RankStart first = ranks.get(0);
    for (RankStart of : ranks) {
      if (of.modelHigh != first.modelHigh || of.modelLow != first.modelLow) {
        throw new InvalidInput("job " + job + ": trainers " + first.rank + " and " + of.rank
            + " train different models (variables, shapes, optimizer or seed); start all with the same program and job");
      }
    }
  }

  /**
   * Checks that every rank trains, if steps wait for every rank: they would wait forever for one that makes none.
   *
   * @param aggregator true if the ranks' pushes are summed before they reach the shards
   */
  static void requireAllTrain(String job, Mode mode, boolean aggregator, List<RankStart> ranks) {
    boolean waits = mode.waitsForOthers(aggregator);
    List<Integer> absent = ranks.stream().filter(of -> !of.trains).map(RankStart::rank).toList();
    if (waits && !absent.isEmpty()) {
      throw new InvalidInput("job " + job + ": the program made no trainer on ranks " + absent
          + ", but in mode " + mode.id()
          + " the others would wait forever for their steps; make one on every rank, or train with mode async, geo, or half_async "
          + "without an aggregator");
    }
  }
}
