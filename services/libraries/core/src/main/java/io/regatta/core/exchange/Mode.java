package io.regatta.core.exchange;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The ways in which pushes of several trainers become updates, each with its properties. This is the registry of the
 * modes: code asks a mode for its properties, never which one it is. Two strategies belong to a mode: the one of a
 * shard ({@code ShardStrategy} in {@code core.shard}), which follows from the properties, and the one of a trainer
 * ({@code TrainerStrategy} in {@code training.strategy}).
 */
public enum Mode {
  /** One round per step: weighted mean over the ranks in the round, summed in rank order, applied when it closes. */
  SYNC(Property.SERVERS, Property.ROUNDS, Property.MERGED, Property.AGGREGATED),
  /** A trainer merges its local replicas (an aggregator its host's trainers), then pushes; no wait between hosts. */
  HALF_ASYNC(Property.SERVERS, Property.MERGED, Property.AGGREGATED),
  /** Every push is applied as it arrives. */
  ASYNC(Property.SERVERS),
  /** Trainers run SGD on local copies and exchange deltas every k steps. */
  GEO(Property.SERVERS, Property.DELTAS, Property.MERGED),
  /**
   * Stale synchronous parallel (Ho et al., 2013): async, but no trainer runs more than a bound ahead of the slowest.
   */
  SSP(Property.SERVERS, Property.BOUND),
  /** As async, but a trainer pulls every k steps only, and trains on its copy in between. */
  LAZY_ASYNC(Property.SERVERS),
  /**
   * Downpour SGD (Dean et al., 2012): as async, but a trainer pushes the sum of its gradients of some steps, and pulls
   * every few steps.
   */
  DOWNPOUR(Property.SERVERS),
  /**
   * No servers: the trainers reduce their gradients among themselves, and each updates its own copy. No shard has it.
   */
  COLLECTIVE(Property.MERGED, Property.AGGREGATED);

  /** The properties of a mode. */
  private enum Property { SERVERS, ROUNDS, DELTAS, BOUND, MERGED, AGGREGATED }

  private final Set<Property> properties;

  Mode(Property... properties) {
    this.properties = Set.of(properties);
    if (Stream.of(Property.ROUNDS, Property.DELTAS, Property.BOUND).filter(this::has).count() > 1) {
      throw new IllegalArgumentException(name() + " has several of rounds, deltas and a staleness bound: no shard applies such pushes");
    }
  }

  private boolean has(Property property) {
    return properties.contains(property);
  }

  /** Returns the mode with rounds: its values after a step are the same, whatever comes before whatever. */
  public static Mode withRounds() {
    return Stream.of(values()).filter(Mode::hasRounds).findFirst().orElseThrow();
  }

  /** Returns the modes in which parameters are on servers, and in which there can be sparse tables. */
  public static List<Mode> ofServers() {
    return Stream.of(values()).filter(Mode::needsServers).toList();
  }

  /** Returns the mode with this name, in which '-' and '_' are alike and case does not matter. */
  public static Optional<Mode> find(String name) {
    return Stream.of(values()).filter(mode -> mode.id().equals(name.toLowerCase(Locale.ROOT).replace('-', '_'))).findFirst();
  }

  /** Returns the name in files, messages and on the wire, for example {@code half_async}. */
  public String id() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns true if the parameters lie on servers. */
  public boolean needsServers() {
    return has(Property.SERVERS);
  }

  /** Returns true if a step is a round of all trainers, so that its number says what the values contain. */
  public boolean hasRounds() {
    return has(Property.ROUNDS);
  }

  /** Returns true if trainers update copies of their own and push the differences, not gradients. */
  public boolean pushesDeltas() {
    return has(Property.DELTAS);
  }

  /** Returns true if a trainer may be ahead of the slowest by the job's staleness bound, and no further. */
  public boolean hasStalenessBound() {
    return has(Property.BOUND);
  }

  /** Returns true if the replicas of a trainer are merged and push once; else each pushes for itself. */
  public boolean mergesReplicas() {
    return has(Property.MERGED);
  }

  /** Returns true if a gradient aggregator may stand between the trainers of a host and the others. */
  public boolean mayBeAggregated() {
    return has(Property.AGGREGATED);
  }

  /**
   * Returns true if trainers wait for each other's steps at the servers or an aggregator. A trainer that stands in a
   * barrier then has to say that its steps are not to be waited for.
   *
   * @param aggregated whether a gradient aggregator merges the trainers of a host
   */
  public boolean waitsForOthers(boolean aggregated) {
    return needsServers() && (hasRounds() || hasStalenessBound() || aggregated && mayBeAggregated());
  }
}
