package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.training.strategy.TrainerStrategy;
import io.regatta.training.strategy.async.Async;
import io.regatta.training.strategy.collective.Collective;
import io.regatta.training.strategy.geo.Geo;
import io.regatta.training.strategy.halfasync.HalfAsync;
import io.regatta.training.strategy.ssp.Ssp;
import io.regatta.training.strategy.sync.Sync;

/**
 * The way in which this program's trainers exchange parameters. Immutable.
 *
 * @param trainer what a trainer pushes and pulls, and when
 * @param communication what the ranks exchange; only collective mode looks at it
 */
public record Strategy(TrainerStrategy trainer, Communication communication) {

  public Strategy {
    if (trainer == null) {
      throw new InvalidInput("strategy: the trainer's strategy is missing; use Strategy.sync() or another one");
    }
    if (communication == null) {
      throw new InvalidInput("strategy: communication is missing; use Communication.PLAIN");
    }
  }

  /** Returns a strategy of any mode with servers, for example {@code Strategy.of(new LazyAsync(4))}. */
  public static Strategy of(TrainerStrategy trainer) {
    return new Strategy(trainer, Communication.PLAIN);
  }

  /** Returns sync: one round per step over all ranks; deterministic. */
  public static Strategy sync() {
    return of(new Sync());
  }

  /** Returns half-async: the replicas of a trainer are merged, and trainers do not wait for each other. */
  public static Strategy halfAsync() {
    return of(new HalfAsync());
  }

  /**
   * Returns async: every push is applied when it arrives, and the next step waits for that, whatever the job says of
   * {@code overlap}. {@code Strategy.of(new Async(true))} does not wait.
   */
  public static Strategy async() {
    return of(new Async(false));
  }

  /** Returns geo: local SGD, with deltas exchanged every {@code kSteps} steps. */
  public static Strategy geo(int kSteps) {
    return of(new Geo(kSteps));
  }

  /** Returns ssp: asynchronous, but no trainer is more than {@code bound} steps ahead of the slowest. */
  public static Strategy ssp(int bound) {
    return of(new Ssp(bound));
  }

  /** Returns collective: the trainers reduce their gradients among themselves in every step, without servers. */
  public static Strategy collective() {
    return collective(Communication.PLAIN);
  }

  /**
   * Returns collective with fewer bytes, for example
   * {@code Strategy.collective(new DgcConfigs(1000, 500, List.of(0.75, 0.999)))}, or
   * {@code Strategy.collective(new LocalsgdConfigs(4, 100))}.
   */
  public static Strategy collective(Communication communication) {
    return new Strategy(new Collective(), communication);
  }

  /** Returns the job file's strategy. */
  public static Strategy fromJob(JobConfig job) {
    return new Strategy(job.strategies().of(job.mode()), job.collective().communication());
  }

  /** Returns the mode. */
  public Mode mode() {
    return trainer.mode();
  }

  /**
   * Checks that a job started from its file can be trained by this strategy: the file decides which processes run.
   *
   * @throws InvalidInput if this strategy needs servers and the job has none, or the job has servers and this needs
   *     none
   */
  public void check(JobConfig job) {
    if (!mode().needsServers() && job.mode().needsServers()) {
      throw new InvalidInput("job " + job.job() + ": the program's Strategy is collective, without servers, but the job's mode is "
          + job.mode().id() + ", with " + job.servers() + " servers and " + job.threads()
          + " threads a trainer; set mode: collective in the job, or give Strategy.fromJob");
    }
    if (mode().needsServers() && !job.mode().needsServers()) {
      throw new InvalidInput("job " + job.job() + ": the program's Strategy is " + mode().id()
          + ", which needs servers, but the job's mode is collective, without any; set another mode in the job, or give "
          + "Strategy.fromJob");
    }
  }
}
