package io.regatta.training.rank;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.loop.Clock;
import io.regatta.core.model.ModelSpec;
import io.regatta.protocol.gather.StartReport;
import io.regatta.training.session.TrainerSession;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The reports that the ranks exchange at the start of a run ({@link StartReport}), and the checks that they agree.
 * Stateless.
 */
final class StartReports {

  private static final int RANDOM_BITS = 12;

  private StartReports() {}

  /** Returns the report of a rank that trains this model from this step on. */
  static StartReport training(TrainerSession session, long step, ModelSpec model) {
    return of(session).setTrains(true).setStep(step).setModel(model.digest()).build();
  }

  /** Returns the report of a rank that ends its run without having trained. */
  static StartReport abstaining(TrainerSession session) {
    return of(session).build();
  }

  private static StartReport.Builder of(TrainerSession session) {
    return StartReport.newBuilder().setRank(session.trainer().rank()).setRun(newRun(session.clock()));
  }

  /** Returns the time in ms, and random bits below it. */
  private static long newRun(Clock clock) {
    return clock.epochMillis() << RANDOM_BITS | ThreadLocalRandom.current().nextLong(1 << RANDOM_BITS);
  }

  /** Checks that all ranks resume at the same step: ranks that see different snapshots would not train the same job. */
  static void requireSameStep(String job, List<StartReport> ranks) {
    StartReport first = ranks.get(0);
    for (StartReport of : ranks) {
      if (of.getTrains() && of.getStep() != first.getStep()) {
        throw new InvalidInput("job " + job + ": trainer " + first.getRank() + " resumes at step " + first.getStep() + ", trainer "
            + of.getRank() + " at step " + of.getStep() + "; all must see the same snapshots: name a directory that they share");
      }
    }
  }

  /** Checks that all ranks train the same model. With servers, these refuse a trainer of another model. */
  static void requireSameModel(String job, List<StartReport> ranks) {
    StartReport first = ranks.get(0);
    for (StartReport of : ranks) {
      if (!of.getModel().equals(first.getModel())) {
        throw new InvalidInput("job " + job + ": trainers " + first.getRank() + " and " + of.getRank()
            + " train different models (variables, shapes, optimizer or seed); start all with the same program and job");
      }
    }
  }

  /**
   * Checks that every rank trains, if steps wait for every rank: they would wait forever for one that makes none.
   *
   * @param aggregator true if the ranks' pushes are summed before they reach the shards
   */
  static void requireAllTrain(String job, Mode mode, boolean aggregator, List<StartReport> ranks) {
    boolean waits = mode.waitsForOthers(aggregator);
    List<Integer> absent = ranks.stream().filter(of -> !of.getTrains()).map(StartReport::getRank).toList();
    if (waits && !absent.isEmpty()) {
      throw new InvalidInput("job " + job + ": the program made no trainer on ranks " + absent
          + ", but in mode " + mode.id() + " the others would wait forever for their steps; make one on every rank, or train "
          + "with mode async, geo, or half_async without an aggregator");
    }
  }
}
