package io.regatta.training.rank;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.loop.Clock;
import io.regatta.core.model.ModelSpec;
import io.regatta.training.session.TrainerSession;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What a rank says of itself at the start of a run, as the ranks tell each other, and what they must agree on: a fixed row of doubles.
 *
 * @param trains whether it trains, or ends its run without having made a trainer
 * @param step that it goes on from
 * @param run a number for the run, which the lowest rank's becomes: runs that begin later have higher ones
 * @param modelHigh half of its model's digest, 32 bits, which a double holds
 * @param modelLow the other half
 */
record RankStart(int rank, boolean trains, long step, long run, long modelHigh, long modelLow) {

  private static final int RANDOM_BITS = 12;
  private static final int HEX = 16;

  /** This rank trains this model. */
  static RankStart training(TrainerSession session, long step, ModelSpec model) {
    String digest = model.digest();
    int middle = digest.length() / 2;
    return new RankStart(session.trainer().rank(), true, step, newRun(session.clock()), Long.parseLong(digest.substring(0, middle), HEX),
        Long.parseLong(digest.substring(middle), HEX));
  }

  /** This rank ends its run without having trained. */
  static RankStart abstaining(TrainerSession session) {
    return new RankStart(session.trainer().rank(), false, 0, newRun(session.clock()), 0, 0);
  }

  /** The time, and random bits below it. Exact in a double until 2039. */
  private static long newRun(Clock clock) {
    return clock.epochMillis() << RANDOM_BITS | ThreadLocalRandom.current().nextLong(1 << RANDOM_BITS);
  }

  double[] toRow() {
    return new double[] {rank, trains ? 1 : 0, step, run, modelHigh, modelLow};
  }

  /** What all ranks have said, in rank order. */
  static List<RankStart> ofRows(List<double[]> rows) {
    return rows.stream().map(r -> new RankStart((int) r[0], r[1] == 1, (long) r[2], (long) r[3], (long) r[4], (long) r[5])).toList();
  }

  /** Ranks that see different snapshots would not train the same job. */
  static void requireSameStep(String job, List<RankStart> ranks) {
    RankStart first = ranks.get(0);
    for (RankStart of : ranks) {
      if (of.trains && of.step != first.step) {
        throw new InvalidInput("job " + job + ": trainer " + first.rank + " goes on at step " + first.step + ", trainer " + of.rank
            + " at step " + of.step + "; all must see the same snapshots: name a directory that they share");
      }
    }
  }

  /** Where there are servers, these refuse a trainer of another model. */
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
   * Where steps wait for every rank, they would wait for ever for one that makes none.
   *
   * @param aggregator whether the ranks' pushes are summed before they come to the shards
   */
  static void requireAllTrain(String job, Mode mode, boolean aggregator, List<RankStart> ranks) {
    boolean waits = mode.waitsForOthers(aggregator);
    List<Integer> absent = ranks.stream().filter(of -> !of.trains).map(RankStart::rank).toList();
    if (waits && !absent.isEmpty()) {
      throw new InvalidInput("job " + job + ": the program made no trainer on ranks " + absent
          + ", for whose steps the others would wait for ever in mode " + mode.id()
          + "; make one on every rank, or train with mode async, geo, or half_async without an aggregator");
    }
  }
}
