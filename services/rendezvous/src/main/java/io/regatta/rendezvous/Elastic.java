package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.group.Seating;
import io.regatta.core.group.WorldSize;
import io.regatta.node.address.PublishedAddress;
import io.regatta.protocol.rendezvous.JoinRequest;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The rules of an elastic group: who may enter, when the next generation forms, who gets which rank. Decides only; owned by
 * its {@link Group}, on that one's thread.
 */
final class Elastic {
  private final String group;
  private final int min;
  private final int max;
  private final long settleMillis;

  /**
   * Rules of a group without members.
   *
   * @param settleMillis how long nobody else must have come before it begins with fewer than the maximum
   */
  Elastic(String group, WorldSize size, long settleMillis) {
    this.group = group;
    this.min = size.min();
    this.max = size.max();
    this.settleMillis = settleMillis;
  }

  /**
   * Whether a newcomer may wait for the next generation. Members have the ranks that come, and keep them before a newcomer's
   * wish; one that wants what a member has asked for, or comes to a full group, waits until that one, or all, have given a sign
   * of life ({@link #refusal}), or one is lost: it may be that one's next life.
   *
   * @throws Conflict if there can be no seat for it while those live who are here
   */
  void admit(JoinRequest newcomer, List<GroupMember> holders, JoinQueue joinQueue, long now) {
    List<GroupMember> pending = pending(holders, joinQueue);
    int seats = pending.size() + joinQueue.size();
    if (seats >= max && (holders.isEmpty() || seats >= 2 * max)) {
      throw full(newcomer, holders, joinQueue, now);
    }
    Stream.concat(holders.stream().filter(GroupMember::active).map(holder -> holder.endpoint),
        joinQueue.guests().stream().map(guest -> guest.request().getEndpoint()))
        .filter(endpoint -> PublishedAddress.loopbackApart(endpoint, newcomer.getEndpoint())).findFirst().ifPresent(other -> {
          throw new Conflict(newcomer.getMember() + " publishes " + newcomer.getEndpoint() + " to its peers, and another "
              + "member of group " + group + " " + other + ": on loopback nobody on another machine can reach a member. "
              + "Configure the host to publish of the one on loopback");
        });
  }

  private Conflict full(JoinRequest newcomer, List<GroupMember> holders, JoinQueue joinQueue, long now) {
    return new Conflict("group " + group + " is full: " + newcomer.getMember() + " is too late for one of its " + max
        + " seats, held by " + names(holders, joinQueue, now) + "; wait until one of them has left or is lost, or start all "
        + "with a larger world size");
  }

  /** The member who has asked for the rank that this newcomer asks for, and may be dead. */
  static Optional<GroupMember> rival(JoinQueue.Guest newcomer, List<GroupMember> holders) {
    JoinRequest wants = newcomer.request();
    return wants.getIncarnation() != 0 || wants.getRank() < 0 ? Optional.empty()
        : holders.stream().filter(holder -> holder.active() && holder.wanted == wants.getRank()).findFirst();
  }

  /** Whether this newcomer can be let in, as far as the group knows: nobody need make room for others yet. */
  boolean hasSeat(JoinQueue.Guest newcomer, List<GroupMember> holders, JoinQueue joinQueue) {
    return rival(newcomer, holders).isEmpty() && !isBeyond(newcomer, holders, joinQueue);
  }

  /** Whether members, and newcomers before this one, take all seats; they do in a group that has begun only. */
  private boolean isBeyond(JoinQueue.Guest newcomer, List<GroupMember> holders, JoinQueue joinQueue) {
    if (newcomer.request().getIncarnation() != 0 || holders.isEmpty()) {
      return false;
    }
    long active = holders.stream().filter(GroupMember::active).count();
    long before = joinQueue.guests().stream().takeWhile(guest -> guest != newcomer)
        .filter(guest -> guest.request().getIncarnation() == 0).count();
    return active + before >= max;
  }

  /**
   * Why a newcomer cannot stay: the member who has asked for the same rank, or all members of a full group, have given a sign of
   * life since it came.
   */
  Optional<Conflict> refusal(JoinQueue.Guest newcomer, List<GroupMember> holders, JoinQueue joinQueue, long now) {
    Optional<Conflict> held = rival(newcomer, holders).filter(newcomer::hears)
        .map(holder -> holder.held(newcomer.request().getRank(), group, now));
    boolean allLive = holders.stream().filter(GroupMember::active).allMatch(newcomer::hears);
    return held.isPresent() || !allLive || !isBeyond(newcomer, holders, joinQueue) ? held
        : Optional.of(full(newcomer.request(), holders, joinQueue, now));
  }

  private static String names(List<GroupMember> holders, JoinQueue joinQueue, long now) {
    String waiting = joinQueue.guests().stream().filter(guest -> guest.request().getIncarnation() == 0)
        .map(guest -> ", " + guest.request().getMember()).collect(Collectors.joining());
    return holders.stream().filter(GroupMember::active).map(holder -> holder.describe(now)).collect(Collectors.joining(", "))
        + waiting;
  }

  /** Active members who have not come to form the next generation. */
  private static List<GroupMember> pending(List<GroupMember> holders, JoinQueue joinQueue) {
    return holders.stream().filter(holder -> holder.active() && !joinQueue.holds(holder.incarnation)).toList();
  }

  /**
   * Whether all have come who live, there are enough, and it is no use to wait for more.
   *
   * @param runOver a member has come to its end, whatever has become of it: any number is enough then, for nobody is let in any more,
   *     and the others are at their end as well or have left
   */
  boolean isReady(List<GroupMember> holders, JoinQueue joinQueue, boolean runOver, long now) {
    return (runOver || joinQueue.size() >= min) && (joinQueue.size() <= max || holders.isEmpty()) && pending(holders, joinQueue).isEmpty()
        && (joinQueue.size() >= max || now - joinQueue.lastCameMillis() >= settleMillis
            || joinQueue.guests().stream().anyMatch(guest -> guest.request().getIncarnation() != 0));
  }

  /** The ranks that the next generation waits for: of members who have not come, or as many as are missing for the first. */
  List<Integer> absentRanks(List<GroupMember> holders, JoinQueue joinQueue) {
    List<GroupMember> pending = pending(holders, joinQueue);
    return pending.isEmpty() ? joinQueue.unclaimedRanks().stream().limit(Math.max(0, min - joinQueue.size())).toList()
        : pending.stream().map(holder -> holder.rank).toList();
  }

  /** The ranks of those who come, by place. */
  static int[] ranks(List<JoinQueue.Guest> guests, List<GroupMember> holders) {
    return Seating.ranks(guests.stream().map(guest -> new Seating.Guest(holders.stream()
        .filter(holder -> holder.incarnation == guest.request().getIncarnation()).mapToInt(holder -> holder.rank)
        .findFirst().orElse(-1), guest.request().getRank())).toList());
  }

  /** Why somebody still waits, and what to do. */
  String state(List<GroupMember> holders, JoinQueue joinQueue, long now) {
    List<GroupMember> pending = pending(holders, joinQueue);
    if (pending.isEmpty()) {
      return "only " + joinQueue.size() + " of " + (min == max ? "" : "at least ") + min + " members of group " + group
          + " have come. Start the missing ones, or wait longer: --ready-timeout, or node.ready_timeout_seconds";
    }
    return "these of group " + group + " have not come to form its next generation: " + pending.stream()
        .map(holder -> holder.describe(now)).collect(Collectors.joining(", ")) + ". Look at what they do, or end them";
  }
}
