package io.regatta.core.exchange;

/** How pushes of several trainers become updates. Configuration names are the lower-case forms, '-' or '_' alike. */
public enum Mode {
  /** One round per step: weighted mean over the ranks in the round, summed in rank order, applied when it closes. */
  SYNC,
  /** A trainer merges its local replicas (an aggregator its host's trainers), then pushes; no wait between hosts. */
  HALF_ASYNC,
  /** Every push is applied as it comes. */
  ASYNC,
  /** Trainers run SGD on local copies and exchange deltas every k steps. */
  GEO,
  /** Stale synchronous parallel (Ho et al., 2013): async, but nobody runs more than a bound ahead of the slowest. */
  SSP
}
