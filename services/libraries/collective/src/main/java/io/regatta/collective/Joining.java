package io.regatta.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.time.Duration;

/**
 * How one process joins a group. Immutable.
 *
 * @param group its name, the same for all members
 * @param minWorldSize fewest ranks of a generation, the same for all members
 * @param maxWorldSize most ranks of a generation, the same for all members
 * @param rank wanted, -1 for any; refused while a member lives who asked for the same one, or, in a group of one size, has it.
 *     The first generation of the largest size gives everybody what it wants; in a smaller one a rank beyond its size becomes a
 *     free one, and members keep the rank that they have before a newcomer's wish is met
 * @param member what messages to others call this life of the process, e.g. {@code trainer with pid 4711 on 10.0.0.7}
 * @param endpoint {@code host:port} where the other members reach this one
 * @param timeout how long to wait for the others to begin. A newcomer to a group that has begun waits as long as that goes on
 * @param settle once the minimum has come to a group that has not begun, how long nobody else must come before it begins
 *     with fewer than the maximum
 * @param runId names the start of the job that this process belongs to; empty: none is named. If a run of that id has ended with
 *     success, the join fails with {@code RunEnded}: nothing is left to do
 */
public record Joining(String group, int minWorldSize, int maxWorldSize, int rank, String member, String endpoint,
    Duration timeout, Duration settle, String runId) {

  /** For {@code settle}: as torch's elastic rendezvous, but 3 s in place of 30. */
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

  /** Of no named run. */
  public Joining(String group, int minWorldSize, int maxWorldSize, int rank, String member, String endpoint, Duration timeout,
      Duration settle) {
    this(group, minWorldSize, maxWorldSize, rank, member, endpoint, timeout, settle, "");
  }

  /** The same for a process of this run. */
  public Joining ofRun(String id) {
    return new Joining(group, minWorldSize, maxWorldSize, rank, member, endpoint, timeout, settle, id);
  }

  /** A group of so many, no fewer and no more. */
  public static Joining fixed(String group, int worldSize, int rank, String member, String endpoint, Duration timeout) {
    return new Joining(group, worldSize, worldSize, rank, member, endpoint, timeout, SETTLE);
  }

  /** A group that goes on with fewer when members go, and takes newcomers in; ranks are assigned. */
  public static Joining elastic(String group, int minWorldSize, int maxWorldSize, String member, String endpoint,
      Duration timeout) {
    return new Joining(group, minWorldSize, maxWorldSize, -1, member, endpoint, timeout, SETTLE);
  }
}
