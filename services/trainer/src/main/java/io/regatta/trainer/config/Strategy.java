package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;

/**
 * How this program's trainers exchange parameters. Immutable.
 *
 * @param mode exchange mode
 * @param kSteps steps between two exchanges ({@code GEO} only, ≥ 1)
 * @param stalenessBound steps that a trainer may be ahead of the slowest ({@code SSP} only, ≥ 0)
 */
public record Strategy(Mode mode, int kSteps, int stalenessBound) {

  public Strategy {
    if (mode == null) {
      throw new InvalidInput("strategy: mode is missing; use sync, half-async, async, geo, ssp or collective");
    }
    if (mode == Mode.GEO && kSteps < 1) {
      throw new InvalidInput("strategy: geo needs k_steps of at least 1, not " + kSteps);
    }
    if (mode == Mode.SSP && stalenessBound < 0) {
      throw new InvalidInput("strategy: ssp needs a staleness_bound of at least 0, not " + stalenessBound);
    }
  }

  /** One round per step over all ranks; deterministic. */
  public static Strategy sync() {
    return new Strategy(Mode.SYNC, 0, 0);
  }

  /** The replicas of a trainer are merged, trainers do not wait for each other. */
  public static Strategy halfAsync() {
    return new Strategy(Mode.HALF_ASYNC, 0, 0);
  }

  /** Every push is applied as it comes. */
  public static Strategy async() {
    return new Strategy(Mode.ASYNC, 0, 0);
  }

  /** Local SGD, deltas exchanged every {@code kSteps} steps. */
  public static Strategy geo(int kSteps) {
    return new Strategy(Mode.GEO, kSteps, 0);
  }

  /** Asynchronous, but nobody runs more than {@code bound} steps ahead of the slowest. */
  public static Strategy ssp(int bound) {
    return new Strategy(Mode.SSP, 0, bound);
  }

  /** Without servers: the trainers reduce their gradients among themselves, in every step. */
  public static Strategy collective() {
    return new Strategy(Mode.COLLECTIVE, 0, 0);
  }

  /** What the job file says. */
  public static Strategy fromJob(JobConfig job) {
    return new Strategy(job.mode(), job.kSteps(), job.stalenessBound());
  }
}
