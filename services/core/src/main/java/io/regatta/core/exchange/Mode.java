package io.regatta.core.exchange;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;

/**
 * The ways in which pushes of several trainers become updates. Configuration names are the lower-case forms, '-' or '_'
 * alike.
 */
public enum Mode {
  /** One round per step: weighted mean over the ranks in the round, summed in rank order, applied when it closes. */
  SYNC,
  /** A trainer merges its local replicas (an aggregator its host's trainers), then pushes; no wait between hosts. */
  HALF_ASYNC,
  /** Every push is applied as it arrives. */
  ASYNC,
  /** Trainers run SGD on local copies and exchange deltas every k steps. */
  GEO,
  /**
   * Stale synchronous parallel (Ho et al., 2013): async, but no trainer runs more than a bound ahead of the slowest.
   */
  SSP,
  /** No servers: the trainers reduce their gradients among themselves, and each updates its own copy. No shard has it. */
  COLLECTIVE;

  /** The modes in which parameters are on servers, and in which there can be sparse tables. */
  public static final Set<Mode> OF_SERVERS = Collections.unmodifiableSet(EnumSet.complementOf(EnumSet.of(COLLECTIVE)));
}
