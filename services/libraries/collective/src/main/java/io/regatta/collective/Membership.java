package io.regatta.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * One rank's place in one generation of a group: what a join comes to. Immutable. When anybody comes, leaves or is lost,
 * this generation is over, and those who go on get another membership, perhaps with another rank.
 *
 * @param group name of the group, e.g. of the job
 * @param generation greater for every later membership of the same group
 * @param rank from 0
 * @param endpoints {@code host:port} at which each member is reached, in the order of ranks, this one's too
 * @param aggregators {@code host:port} of processes that all-reduce for the members; they are no members, and count as ranks
 *     behind the last one between two streams only. The same, in the same order, for all members
 */
public record Membership(String group, long generation, int rank, List<String> endpoints, List<String> aggregators) {

  public Membership {
    endpoints = List.copyOf(endpoints);
    aggregators = List.copyOf(aggregators);
    if (rank < 0 || rank >= endpoints.size() + aggregators.size()) {
      throw new InvalidInput("rank " + rank + " is not within the " + endpoints.size() + " members of group " + group);
    }
  }

  /** Of a group without aggregators. */
  public Membership(String group, long generation, int rank, List<String> endpoints) {
    this(group, generation, rank, endpoints, List.of());
  }

  /** A group of one, for a process alone. */
  public static Membership alone(String group) {
    return new Membership(group, 0, 0, List.of(""));
  }

  /** Number of ranks of the group in this generation. */
  public int worldSize() {
    return endpoints.size();
  }

  /** How many of the ranks are on the host of this one, itself too. */
  public int onHost() {
    return Placement.onHostOf(endpoints, rank);
  }

  /** Whether this is the place of an aggregator. */
  boolean isAggregator() {
    return rank >= endpoints.size();
  }

  /** For messages, of a rank or of an aggregator. */
  String name(int of) {
    return of < endpoints.size() ? "rank " + of : "aggregator " + (of - endpoints.size());
  }

  /** For messages: {@code rank 1 of 4 of group census, generation 7}. */
  @Override
  public String toString() {
    return name(rank) + " of " + worldSize() + " of group " + group + ", generation " + generation;
  }
}
