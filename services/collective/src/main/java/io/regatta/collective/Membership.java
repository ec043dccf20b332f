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
 */
public record Membership(String group, long generation, int rank, List<String> endpoints) {

  public Membership {
    endpoints = List.copyOf(endpoints);
    if (rank < 0 || rank >= endpoints.size()) {
      throw new InvalidInput("rank " + rank + " is not within the " + endpoints.size() + " members of group " + group);
    }
  }

  /** A group of one, for a process alone. */
  public static Membership alone(String group) {
    return new Membership(group, 0, 0, List.of(""));
  }

  /** Number of ranks of the group in this generation. */
  public int worldSize() {
    return endpoints.size();
  }

  /** For messages: {@code rank 1 of 4 of group census, generation 7}. */
  @Override
  public String toString() {
    return "rank " + rank + " of " + worldSize() + " of group " + group + ", generation " + generation;
  }
}
