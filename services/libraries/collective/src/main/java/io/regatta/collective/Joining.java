package io.regatta.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.Duration;

/**
 * A process's request to join a group. Immutable.
 *
 * @param group its name, the same for all members
 * @param minWorldSize fewest ranks of a generation, the same for all members
 * @param maxWorldSize most ranks of a generation, the same for all members
 * @param rank wanted, -1 for any. Refused while a living member asked for the same one, or, in a group of one size, has
 *     it. The first generation of the largest size gives every member the rank it wants. In a smaller one a rank
 *     beyond its size becomes a free one. Members keep their rank before a newcomer's wish is met
 * @param member name of this life of the process in messages to others, e.g. {@code trainer with pid 4711 on 10.0.0.7}
 * @param endpoint {@code host:port} at which the other members reach this one
 * @param timeout how long to wait for the others to begin. A newcomer to a group that has begun waits as long as that
 *     continues
 * @param settle how long no other member must come before a group with at least the minimum begins with fewer than the
 *     maximum
 * @param runId names the start of the job that this process belongs to; empty: none is named. If a run of that id has
 *     ended with success, the join fails with {@code RunEnded}: nothing is left to do
 */
public record Joining(String group, int minWorldSize, int maxWorldSize, int rank, String member, String endpoint,
    Duration timeout, Duration settle, String runId) {

  /** Default of {@code settle}: as torch's elastic rendezvous, but 3 s in place of 30. */
  public static final Duration SETTLE = Duration.ofSeconds(3);

  public Joining {
    if (group.isEmpty() || member.isEmpty()) {
      throw new InvalidInput("a group and a member that joins it need names, got \"" + group + "\" and \"" + member
          + "\"");
    }
    if (minWorldSize < 1 || maxWorldSize < minWorldSize) {
      throw new InvalidInput("world size of group " + group + " must be 1 <= minimum <= maximum, got " + minWorldSize
          + " and " + maxWorldSize);
    }
    if (rank < -1 || rank >= maxWorldSize) {
      throw new InvalidInput("rank " + rank + " of " + member + " is not within 0 .. " + (maxWorldSize - 1) + " of group "
          + group + " (or -1 for any)");
    }
  }

  /** Creates a request of no named run. */
  public Joining(String group, int minWorldSize, int maxWorldSize, int rank, String member, String endpoint, Duration timeout,
      Duration settle) {
    this(group, minWorldSize, maxWorldSize, rank, member, endpoint, timeout, settle, "");
  }

  /** Returns a copy for a process of this run. */
  public Joining ofRun(String id) {
    return new Joining(group, minWorldSize, maxWorldSize, rank, member, endpoint, timeout, settle, id);
  }

  /** Returns a request for a group of exactly this size. */
  public static Joining fixed(String group, int worldSize, int rank, String member, String endpoint, Duration timeout) {
    return new Joining(group, worldSize, worldSize, rank, member, endpoint, timeout, SETTLE);
  }

  /**
   * Returns a request for a group that continues with fewer when members leave or are lost, and takes newcomers in;
   * ranks are assigned.
   */
  public static Joining elastic(String group, int minWorldSize, int maxWorldSize, String member, String endpoint,
      Duration timeout) {
    return new Joining(group, minWorldSize, maxWorldSize, -1, member, endpoint, timeout, SETTLE);
  }
}
