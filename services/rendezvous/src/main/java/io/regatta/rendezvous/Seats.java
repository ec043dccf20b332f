package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.connection.PeerLog;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The holders of a {@link Group}'s ranks. Part of it, on its thread. */
final class Seats {
  private static final Logger LOG = LoggerFactory.getLogger(Seats.class);
  private static final PeerLog ACQUITTALS = PeerLog.ofEvents(LOG);

  private final String group;
  /** World size; of an elastic group the largest. */
  private final int worldSize;
  private final LongSupplier clock;
  /** Empty until the group has formed; then by rank, none null. */
  private GroupMember[] holders = {};

  Seats(String group, int worldSize, LongSupplier clock) {
    this.group = group;
    this.worldSize = worldSize;
    this.clock = clock;
  }

  /** Returns the holders by rank; empty until the group has formed. */
  List<GroupMember> all() {
    return Arrays.asList(holders);
  }

  Stream<GroupMember> active() {
    return Stream.of(holders).filter(GroupMember::active);
  }

  /** Gives ranks 0, 1, ... to these from now on. */
  void take(GroupMember[] next) {
    holders = next;
  }

  /** Gives its rank to this one. */
  void take(GroupMember next) {
    holders[next.rank] = next;
  }

  /** Returns the rank that a newcomer to a group of one size gets; empty while the rank that it wants is held. */
  OptionalInt free(int wantedRank) {
    return wanted(wantedRank).filter(holder -> !holder.active()).mapToInt(holder -> holder.rank).findFirst();
  }

  /** Returns the holders, in any state, whose rank a newcomer to a group of one size would take. */
  Stream<GroupMember> wanted(int wantedRank) {
    return wantedRank < 0 ? Stream.of(holders) : Stream.of(holders[wantedRank]);
  }

  /** Returns the error of a newcomer to a group of one size when all holders of possible ranks have been heard. */
  Conflict refusal(int wantedRank, long now) {
    return wantedRank >= 0 ? holders[wantedRank].held(wantedRank, group, now)
        : new Conflict("group " + group + " is full: all " + worldSize + " ranks are held, by " + describeActive(now)
            + "; this member cannot join before one of them leaves");
  }

  String describeActive(long now) {
    return active().map(holder -> holder.describe(now)).collect(Collectors.joining(", "));
  }

  /** Returns true if this one has left already, so that its second leave is no error. */
  boolean hasLeft(int rank, long incarnation) {
    return isHeldBy(rank, incarnation) && holders[rank].state == GroupMember.State.LEFT;
  }

  private boolean isHeldBy(int rank, long incarnation) {
    return rank >= 0 && rank < holders.length && holders[rank].incarnation == incarnation;
  }

  /**
   * Returns the calling holder, with its lease renewed; or throws {@code StaleGeneration} with its fate. A member may
   * not know yet that the generation has given it another rank: its incarnation identifies it.
   */
  GroupMember requireActive(int saidRank, long incarnation, long generation) {
    int rank = Stream.of(holders).filter(h -> h.incarnation == incarnation).mapToInt(h -> h.rank).findFirst().orElse(saidRank);
    if (rank < -1 || rank >= worldSize) {
      throw new InvalidInput("rank " + rank + " is not in group " + group + " of world size " + worldSize);
    }
    long now = clock.getAsLong();
    if (!isHeldBy(rank, incarnation)) {
      String holder = holders.length == 0 ? "nobody yet, the group is still forming"
          : rank < 0 || rank >= holders.length ? "nobody, generation " + generation + " has " + holders.length + " members"
          : "incarnation " + holders[rank].incarnation + ", " + holders[rank].describe(now);
      throw new StaleGeneration("incarnation " + incarnation + " does not hold rank " + rank + " of group " + group
          + "; its holder is " + holder + ". Join again to get a new incarnation");
    }
    GroupMember holder = holders[rank];
    if (!holder.active()) {
      throw new StaleGeneration(holder.describe(now) + " of group " + group
          + (holder.state == GroupMember.State.LEFT ? " has left" : " was declared lost: " + holder.lostFor())
          + ". Join again to get a new incarnation");
    }
    if (holder.isAsked()) {
      ACQUITTALS.info("{}: {} lives, though {} cannot reach it", group, holder.describe(now), holder.askedBy());
    }
    holder.seen(now);
    return holder;
  }
}
