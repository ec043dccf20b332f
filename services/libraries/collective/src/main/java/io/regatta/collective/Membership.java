package io.regatta.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * One rank's place in one generation of a group: the result of a join. Immutable. When a member comes, leaves or is
 * lost, this generation is over; the remaining members get another membership, perhaps with another rank.
 *
 * @param group name of the group, e.g. of the job
 * @param generation greater for every later membership of the same group
 * @param rank from 0
 * @param endpoints {@code host:port} at which each member is reached, in the order of ranks, this one's too
 * @param aggregators {@code host:port} of processes that all-reduce for the members. They are no members; between two
 *     streams only they count as ranks after the last one. The same, in the same order, for all members
 */
public record Membership(String group, long generation, int rank, List<String> endpoints, List<String> aggregators) {

  public Membership {
    endpoints = List.copyOf(endpoints);
    aggregators = List.copyOf(aggregators);
    if (rank < 0 || rank >= endpoints.size() + aggregators.size()) {
      throw new InvalidInput("rank " + rank + " is not within the " + endpoints.size() + " members of group " + group);
    }
  }

  /** Creates the membership in a group without aggregators. */
  public Membership(String group, long generation, int rank, List<String> endpoints) {
    this(group, generation, rank, endpoints, List.of());
  }

  /** Returns a group of one, for a process alone. */
  public static Membership alone(String group) {
    return new Membership(group, 0, 0, List.of(""));
  }

  /** Returns the number of ranks of the group in this generation. */
  public int worldSize() {
    return endpoints.size();
  }

  /** Returns how many of the ranks are on the host of this one, itself included. */
  public int onHost() {
    return Placement.onHostOf(endpoints, rank);
  }

  /** Returns true if this is the place of an aggregator. */
  boolean isAggregator() {
    return rank >= endpoints.size();
  }

  /** Returns the name of a rank or an aggregator, for messages. */
  String name(int of) {
    return of < endpoints.size() ? "rank " + of : "aggregator " + (of - endpoints.size());
  }

  /** Returns a text for messages: {@code rank 1 of 4 of group census, generation 7}. */
  @Override
  public String toString() {
    return name(rank) + " of " + worldSize() + " of group " + group + ", generation " + generation;
  }
}
