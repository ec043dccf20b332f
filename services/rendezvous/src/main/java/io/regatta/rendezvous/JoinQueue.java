package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.MissingMember;
import io.regatta.protocol.rendezvous.OpenGather;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The joins that wait for a {@link Group} to form, or for a held rank of it, in order of arrival. Owned by the group,
 * on its thread. A join that names no rank gets the lowest one that no other names, when all have come. In an elastic
 * group {@link Elastic} assigns the ranks.
 */
final class JoinQueue {

  /** One waiting join. Compared by identity: each is a call of its own. */
  static final class PendingJoin {
    private final JoinRequest request;
    private final long sinceMillis;
    private final long signsCountFromMillis;
    private final long deadlineMillis;
    private final BiConsumer<JoinReply, RegattaException> done;
    /** The queue in which it waits. */
    private JoinQueue joinQueue;

    private PendingJoin(JoinRequest request, long sinceMillis, long signsCountFromMillis, long deadlineMillis,
        BiConsumer<JoinReply, RegattaException> done) {
      this.request = request;
      this.sinceMillis = sinceMillis;
      this.signsCountFromMillis = signsCountFromMillis;
      this.deadlineMillis = deadlineMillis;
      this.done = done;
    }

    JoinRequest request() {
      return request;
    }

    /** Returns true if a holder has sent a heartbeat since this join came: then the join is not its next life. */
    boolean hears(GroupMember holder) {
      return holder.heardAfter(signsCountFromMillis);
    }

    BiConsumer<JoinReply, RegattaException> done() {
      return done;
    }

    /** Ends its wait, in whichever queue; false if it did not wait any more. */
    boolean withdraw() {
      return joinQueue.joins.remove(this);
    }
  }

  private final String group;
  private final int worldSize;
  private final long staleMillis;
  private final Set<PendingJoin> joins = new LinkedHashSet<>();

  /**
   * @param staleMillis a heartbeat that arrives within this time after a join may have been sent before it: its sender
   *     can be dead
   */
  JoinQueue(String group, int worldSize, long staleMillis) {
    this.group = group;
    this.worldSize = worldSize;
    this.staleMillis = staleMillis;
  }

  int size() {
    return joins.size();
  }

  /** Adds a join. A member that comes again keeps its rank, even if an earlier newcomer wants it. */
  PendingJoin enter(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done) {
    for (PendingJoin join : joins) {
      if (request.getIncarnation() == 0 && request.getRank() >= 0 && join.request.getRank() == request.getRank()) {
        throw new Conflict("rank " + request.getRank() + " of group " + group + " is held by "
            + join.request.getMember() + (join.request.getEndpoint().isEmpty() ? "" : " at "
            + join.request.getEndpoint()) + ", which joined " + GroupMember.seconds(now - join.sinceMillis)
            + " ago; take another rank");
      }
    }
    PendingJoin join = new PendingJoin(request, now, now + staleMillis, deadlineMillis, done);
    takeOver(join);
    return join;
  }

  /** Adds a join that has been withdrawn from its queue. */
  void takeOver(PendingJoin join) {
    join.joinQueue = this;
    joins.add(join);
  }

  /** Returns true if a member of this incarnation waits here for the next generation. */
  boolean holds(long incarnation) {
    return joins.stream().anyMatch(join -> join.request.getIncarnation() == incarnation);
  }

  List<PendingJoin> joins() {
    return List.copyOf(joins);
  }

  /** Returns the arrival time of the last join; 0 if there is none. */
  long lastCameMillis() {
    return joins.stream().mapToLong(join -> join.sinceMillis).max().orElse(0);
  }

  /** Removes and returns all joins in the order of their arrival. */
  List<PendingJoin> takeAll() {
    List<PendingJoin> all = joins();
    joins.clear();
    return all;
  }

  /** Refuses an earlier call of the same member, or newcomer, which cannot know that its connection broke. */
  void replace(JoinRequest by) {
    Cancelled reason = new Cancelled(by.getMember() + " has asked again to join group " + group
        + ", on another connection");
    joins().stream().filter(join -> join.request.getIncarnation() == by.getIncarnation() && (by.getIncarnation() != 0
        || !by.getEndpoint().isEmpty() && by.getEndpoint().equals(join.request.getEndpoint())
        && by.getMember().equals(join.request.getMember()))).forEach(join -> refuse(join, reason));
  }

  /** Refuses the member of this incarnation, if it waits here. */
  void dismiss(long incarnation, RegattaException reason) {
    joins().stream().filter(join -> join.request.getIncarnation() == incarnation).forEach(join -> refuse(join, reason));
  }

  void refuse(PendingJoin join, RegattaException reason) {
    if (joins.remove(join)) {
      join.done.accept(null, reason);
    }
  }

  /** Removes and returns all joins by rank, as many as the world size. */
  List<PendingJoin> seatAll() {
    PendingJoin[] byRank = new PendingJoin[worldSize];
    joins.stream().filter(g -> g.request.getRank() >= 0).forEach(g -> byRank[g.request.getRank()] = g);
    Iterator<PendingJoin> any = joins.stream().filter(g -> g.request.getRank() < 0).toList().iterator();
    for (int rank = 0; rank < worldSize; rank++) {
      if (byRank[rank] == null) {
        byRank[rank] = any.next();
      }
    }
    joins.clear();
    return List.of(byRank);
  }

  /** Returns the state of a group that is not elastic and has not formed, for a join that timed out. */
  String state() {
    return "only " + joins.size() + " of " + worldSize + " members of group " + group + " have come, " + missing()
        + ". Start the missing ones, or wait longer: --ready-timeout, or node.ready_timeout_seconds";
  }

  /**
   * Fails the joins whose time is over; the others wait on.
   *
   * @param waitsOn joins that wait on after their timeout
   * @param state the reason for which they still waited, and what to do
   */
  void expire(long now, Predicate<PendingJoin> waitsOn, Supplier<String> state) {
    List<PendingJoin> late = joins.stream().filter(g -> now >= g.deadlineMillis && !waitsOn.test(g)).toList();
    if (late.isEmpty()) {
      return;
    }
    String why = state.get();
    late.forEach(joins::remove);
    for (PendingJoin join : late) {
      join.done.accept(null, new PeerLost("join timed out after "
          + GroupMember.seconds(now - join.sinceMillis) + ": " + why));
    }
  }

  private String missing() {
    String unclaimed = unclaimedRanks().stream().map(String::valueOf).collect(Collectors.joining(", "));
    int anyRank = (int) joins.stream().filter(g -> g.request.getRank() < 0).count();
    return anyRank == 0 ? "missing ranks: " + unclaimed
        : (worldSize - joins.size()) + " are missing, out of ranks " + unclaimed;
  }

  /** Returns true if some join here would take this rank. */
  boolean isWanted(int rank) {
    return joins.stream().anyMatch(g -> g.request.getRank() == rank || g.request.getRank() < 0);
  }

  /** Returns the ranks below the largest world size that no join here has asked for. */
  Set<Integer> unclaimedRanks() {
    Set<Integer> ranks = IntStream.range(0, worldSize).boxed().collect(Collectors.toCollection(TreeSet::new));
    joins.forEach(g -> ranks.remove(g.request.getRank()));
    return ranks;
  }

  void close(RegattaException reason) {
    List<PendingJoin> all = List.copyOf(joins);
    joins.clear();
    all.forEach(g -> g.done.accept(null, reason));
  }

  /**
   * Returns the waiting joins as one open gather, if there are any.
   *
   * @param absent the ranks that it waits for
   */
  List<OpenGather> open(Collection<Integer> absent) {
    if (joins.isEmpty()) {
      return List.of();
    }
    OpenGather.Builder join = OpenGather.newBuilder().setGroup(group);
    absent.forEach(rank -> join.addMissing(MissingMember.newBuilder().setRank(rank).setLastStep(-1)));
    return List.of(join.build());
  }

  List<Wait> waits(Collection<Integer> absent) {
    return waits(absent.stream().map(r -> new Wait.Peer("rank " + r, -1, 0)).toList());
  }

  /** Returns the waiting joins, with the peers that they wait for. */
  List<Wait> waits(List<Wait.Peer> missing) {
    List<Wait> waits = new ArrayList<>();
    for (PendingJoin join : joins) {
      waits.add(new Wait(join.request.getMember(), "join", "group " + group, join.sinceMillis, missing));
    }
    return waits;
  }
}
