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
 * The rules of an elastic group: which newcomers may enter, when the next generation forms, and the ranks in it.
 * Decides only; owned by its {@link Group}, on its thread.
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
   * Checks that a newcomer may wait for the next generation. Members take free ranks, and keep them before a newcomer's
   * wish. A newcomer may be the next life of a member. If it wants the rank that a member has asked for, it waits until
   * that member has sent a heartbeat ({@link #refusal}) or is lost. A newcomer to a full group waits likewise for all
   * members.
   *
   * @throws Conflict if there can be no seat for it while the present members live
   */
  void admit(JoinRequest newcomer, List<GroupMember> holders, JoinQueue joinQueue, long now) {
    List<GroupMember> pending = pending(holders, joinQueue);
    int seats = pending.size() + joinQueue.size();
    if (seats >= max && (holders.isEmpty() || seats >= 2 * max)) {
      throw full(newcomer, holders, joinQueue, now);
    }
    Stream.concat(holders.stream().filter(GroupMember::active).map(holder -> holder.endpoint),
        joinQueue.joins().stream().map(join -> join.request().getEndpoint()))
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

  /** Returns the member that has asked for the rank that this newcomer asks for, and may be dead. */
  static Optional<GroupMember> rival(JoinQueue.PendingJoin newcomer, List<GroupMember> holders) {
    JoinRequest wants = newcomer.request();
    return wants.getIncarnation() != 0 || wants.getRank() < 0 ? Optional.empty()
        : holders.stream().filter(holder -> holder.active() && holder.wanted == wants.getRank()).findFirst();
  }

  /** Returns true if this newcomer can be let in, as far as the group knows: no seat must be freed for it first. */
  boolean hasSeat(JoinQueue.PendingJoin newcomer, List<GroupMember> holders, JoinQueue joinQueue) {
    return rival(newcomer, holders).isEmpty() && !isBeyond(newcomer, holders, joinQueue);
  }

  /**
   * Returns true if members, and newcomers before this one, take all seats; possible only in a group that has begun.
   */
  private boolean isBeyond(JoinQueue.PendingJoin newcomer, List<GroupMember> holders, JoinQueue joinQueue) {
    if (newcomer.request().getIncarnation() != 0 || holders.isEmpty()) {
      return false;
    }
    long active = holders.stream().filter(GroupMember::active).count();
    long before = joinQueue.joins().stream().takeWhile(join -> join != newcomer)
        .filter(join -> join.request().getIncarnation() == 0).count();
    return active + before >= max;
  }

  /**
   * Returns the reason for which a newcomer cannot stay, if there is one. The member that asked for the same rank, or
   * all members of a full group, have then sent a heartbeat since it came.
   */
  Optional<Conflict> refusal(JoinQueue.PendingJoin newcomer, List<GroupMember> holders, JoinQueue joinQueue, long now) {
    Optional<Conflict> held = rival(newcomer, holders).filter(newcomer::hears)
        .map(holder -> holder.held(newcomer.request().getRank(), group, now));
    boolean allLive = holders.stream().filter(GroupMember::active).allMatch(newcomer::hears);
    return held.isPresent() || !allLive || !isBeyond(newcomer, holders, joinQueue) ? held
        : Optional.of(full(newcomer.request(), holders, joinQueue, now));
  }

  private static String names(List<GroupMember> holders, JoinQueue joinQueue, long now) {
    String waiting = joinQueue.joins().stream().filter(join -> join.request().getIncarnation() == 0)
        .map(join -> ", " + join.request().getMember()).collect(Collectors.joining());
    return holders.stream().filter(GroupMember::active).map(holder -> holder.describe(now)).collect(Collectors.joining(", "))
        + waiting;
  }

  /** Returns active members that have not joined the next generation yet. */
  private static List<GroupMember> pending(List<GroupMember> holders, JoinQueue joinQueue) {
    return holders.stream().filter(holder -> holder.active() && !joinQueue.holds(holder.incarnation)).toList();
  }

  /**
   * Returns true if all living members have joined, there are enough, and waiting for more is useless.
   *
   * @param runOver a member has reached its end, with success or not. Any number is enough then, since newcomers are
   *     refused, and the others are at their end as well or have left
   */
  boolean isReady(List<GroupMember> holders, JoinQueue joinQueue, boolean runOver, long now) {
    return (runOver || joinQueue.size() >= min) && (joinQueue.size() <= max || holders.isEmpty()) && pending(holders, joinQueue).isEmpty()
        && (joinQueue.size() >= max || now - joinQueue.lastCameMillis() >= settleMillis
            || joinQueue.joins().stream().anyMatch(join -> join.request().getIncarnation() != 0));
  }

  /**
   * Returns the ranks that the next generation waits for: of members that have not joined, or as many as are missing
   * for the first.
   */
  List<Integer> absentRanks(List<GroupMember> holders, JoinQueue joinQueue) {
    List<GroupMember> pending = pending(holders, joinQueue);
    return pending.isEmpty() ? joinQueue.unclaimedRanks().stream().limit(Math.max(0, min - joinQueue.size())).toList()
        : pending.stream().map(holder -> holder.rank).toList();
  }

  /** Returns the ranks of the joins, in the order of their arrival. */
  static int[] ranks(List<JoinQueue.PendingJoin> joins, List<GroupMember> holders) {
    return Seating.ranks(joins.stream().map(join -> new Seating.Candidate(holders.stream()
        .filter(holder -> holder.incarnation == join.request().getIncarnation()).mapToInt(holder -> holder.rank)
        .findFirst().orElse(-1), join.request().getRank())).toList());
  }

  /** Returns the reason for which joins still wait, and what to do. */
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
