package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;

/**
 * The way in which this program's trainers exchange parameters. Immutable.
 *
 * @param mode exchange mode
 * @param kSteps steps between two exchanges ({@code GEO} only, ≥ 1)
 * @param stalenessBound steps that a trainer may be ahead of the slowest ({@code SSP} only, ≥ 0)
 * @param communication what the ranks exchange ({@code COLLECTIVE} only)
 */
public record Strategy(Mode mode, int kSteps, int stalenessBound, Communication communication) {

  public Strategy {
    if (mode == null) {
      throw new InvalidInput("strategy: mode is missing; use sync, half-async, async, geo, ssp or collective");
    }
    if (mode.pushesDeltas() && kSteps < 1) {
      throw new InvalidInput("strategy: geo needs k_steps of at least 1, not " + kSteps);
    }
    if (mode.hasStalenessBound() && stalenessBound < 0) {
      throw new InvalidInput("strategy: ssp needs a staleness_bound of at least 0, not " + stalenessBound);
    }
    if (communication == null) {
      throw new InvalidInput("strategy: communication is missing; use Communication.PLAIN");
    }
  }

  /** Creates a strategy with servers, or by plain all-reduce. */
  public Strategy(Mode mode, int kSteps, int stalenessBound) {
    this(mode, kSteps, stalenessBound, Communication.PLAIN);
  }

  /** Returns sync: one round per step over all ranks; deterministic. */
  public static Strategy sync() {
    return new Strategy(Mode.SYNC, 0, 0);
  }

  /** Returns half-async: the replicas of a trainer are merged, and trainers do not wait for each other. */
  public static Strategy halfAsync() {
    return new Strategy(Mode.HALF_ASYNC, 0, 0);
  }

  /** Returns async: every push is applied when it arrives. */
  public static Strategy async() {
    return new Strategy(Mode.ASYNC, 0, 0);
  }

  /** Returns geo: local SGD, with deltas exchanged every {@code kSteps} steps. */
  public static Strategy geo(int kSteps) {
    return new Strategy(Mode.GEO, kSteps, 0);
  }

  /** Returns ssp: asynchronous, but no trainer is more than {@code bound} steps ahead of the slowest. */
  public static Strategy ssp(int bound) {
    return new Strategy(Mode.SSP, 0, bound);
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
    return new Strategy(Mode.COLLECTIVE, 0, 0, communication);
  }

  /** Returns the job file's strategy. */
  public static Strategy fromJob(JobConfig job) {
    return new Strategy(job.mode(), job.kSteps(), job.stalenessBound(), job.collective().communication());
  }

  /**
   * Checks that a job started from its file can be trained by this strategy: the file decides which processes run.
   *
   * @throws InvalidInput if this strategy needs servers and the job has none, or the job has servers and this needs
   *     none
   */
  public void check(JobConfig job) {
    if (!mode.needsServers() && job.mode().needsServers()) {
      throw new InvalidInput("job " + job.job() + ": the program's Strategy is collective, without servers, but the job's mode is "
          + job.mode().id() + ", with " + job.servers() + " servers and " + job.threads()
          + " threads a trainer; set mode: collective in the job, or give Strategy.fromJob");
    }
    if (mode.needsServers() && !job.mode().needsServers()) {
      throw new InvalidInput("job " + job.job() + ": the program's Strategy is " + mode.id()
          + ", which needs servers, but the job's mode is collective, without any; set another mode in the job, or give "
          + "Strategy.fromJob");
    }
  }
}
