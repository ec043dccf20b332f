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
 * Those who wait for a {@link Group} to form, or for a rank of it that is held, in order of arrival. Owned by the group, on its
 * thread. A guest who names no rank gets the lowest one that nobody named, when all have come. In an elastic group
 * {@link Elastic} says who gets which.
 */
final class JoinQueue {

  /** One waiting join. Compared by identity: each is a call of its own. */
  static final class Guest {
    private final JoinRequest request;
    private final long sinceMillis;
    private final long signsCountFromMillis;
    private final long deadlineMillis;
    private final BiConsumer<JoinReply, RegattaException> done;
    /** Where it waits. */
    private JoinQueue joinQueue;

    private Guest(JoinRequest request, long sinceMillis, long signsCountFromMillis, long deadlineMillis,
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

    /** Whether a holder has given a sign of life since this guest came: then the guest is not its next life. */
    boolean hears(GroupMember holder) {
      return holder.heardAfter(signsCountFromMillis);
    }

    BiConsumer<JoinReply, RegattaException> done() {
      return done;
    }

    /** It waits no longer, wherever it did; false if it did not any more. */
    boolean withdraw() {
      return joinQueue.guests.remove(this);
    }
  }

  private final String group;
  private final int worldSize;
  private final long staleMillis;
  private final Set<Guest> guests = new LinkedHashSet<>();

  /**
   * @param staleMillis a sign of life that comes within this time of a guest may have been sent before it: whoever sent
   *     it can be dead
   */
  JoinQueue(String group, int worldSize, long staleMillis) {
    this.group = group;
    this.worldSize = worldSize;
    this.staleMillis = staleMillis;
  }

  int size() {
    return guests.size();
  }

  /** A member that comes again keeps its rank, whatever a newcomer wants who came before. */
  Guest enter(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done) {
    for (Guest guest : guests) {
      if (request.getIncarnation() == 0 && request.getRank() >= 0 && guest.request.getRank() == request.getRank()) {
        throw new Conflict("rank " + request.getRank() + " of group " + group + " is held by "
            + guest.request.getMember() + (guest.request.getEndpoint().isEmpty() ? "" : " at "
            + guest.request.getEndpoint()) + ", which joined " + GroupMember.seconds(now - guest.sinceMillis)
            + " ago; take another rank");
      }
    }
    Guest guest = new Guest(request, now, now + staleMillis, deadlineMillis, done);
    takeOver(guest);
    return guest;
  }

  /** Takes in a guest that waits nowhere else any more. */
  void takeOver(Guest guest) {
    guest.joinQueue = this;
    guests.add(guest);
  }

  /** Whether a member of this incarnation waits here for the next generation. */
  boolean holds(long incarnation) {
    return guests.stream().anyMatch(guest -> guest.request.getIncarnation() == incarnation);
  }

  List<Guest> guests() {
    return List.copyOf(guests);
  }

  /** When the last guest came who is here; 0 if nobody is. */
  long lastCameMillis() {
    return guests.stream().mapToLong(guest -> guest.sinceMillis).max().orElse(0);
  }

  /** All guests in the order in which they came; the join queue is empty afterwards. */
  List<Guest> takeAll() {
    List<Guest> all = guests();
    guests.clear();
    return all;
  }

  /** Refuses an earlier call of the same member, or newcomer: it cannot know that its connection broke. */
  void replace(JoinRequest by) {
    Cancelled reason = new Cancelled(by.getMember() + " has asked again to join group " + group
        + ", on another connection");
    guests().stream().filter(guest -> guest.request.getIncarnation() == by.getIncarnation() && (by.getIncarnation() != 0
        || !by.getEndpoint().isEmpty() && by.getEndpoint().equals(guest.request.getEndpoint())
        && by.getMember().equals(guest.request.getMember()))).forEach(guest -> refuse(guest, reason));
  }

  /** Refuses the member of this incarnation, if it waits here. */
  void dismiss(long incarnation, RegattaException reason) {
    guests().stream().filter(guest -> guest.request.getIncarnation() == incarnation).forEach(guest -> refuse(guest, reason));
  }

  void refuse(Guest guest, RegattaException reason) {
    if (guests.remove(guest)) {
      guest.done.accept(null, reason);
    }
  }

  /** All guests by rank, as many as the world size; the join queue is empty afterwards. */
  List<Guest> seatAll() {
    Guest[] byRank = new Guest[worldSize];
    guests.stream().filter(g -> g.request.getRank() >= 0).forEach(g -> byRank[g.request.getRank()] = g);
    Iterator<Guest> any = guests.stream().filter(g -> g.request.getRank() < 0).toList().iterator();
    for (int rank = 0; rank < worldSize; rank++) {
      if (byRank[rank] == null) {
        byRank[rank] = any.next();
      }
    }
    guests.clear();
    return List.of(byRank);
  }

  /** The state of a group that is not elastic and has not formed, for who has waited in vain. */
  String state() {
    return "only " + guests.size() + " of " + worldSize + " members of group " + group + " have come, " + missing()
        + ". Start the missing ones, or wait longer: --ready-timeout, or node.ready_timeout_seconds";
  }

  /**
   * Fails the joins whose time is over; the others wait on.
   *
   * @param waitsOn of whom that is not so
   * @param state why they still waited, and what to do
   */
  void expire(long now, Predicate<Guest> waitsOn, Supplier<String> state) {
    List<Guest> late = guests.stream().filter(g -> now >= g.deadlineMillis && !waitsOn.test(g)).toList();
    if (late.isEmpty()) {
      return;
    }
    String why = state.get();
    late.forEach(guests::remove);
    for (Guest guest : late) {
      guest.done.accept(null, new PeerLost("join timed out after "
          + GroupMember.seconds(now - guest.sinceMillis) + ": " + why));
    }
  }

  private String missing() {
    String unclaimed = unclaimedRanks().stream().map(String::valueOf).collect(Collectors.joining(", "));
    int anyRank = (int) guests.stream().filter(g -> g.request.getRank() < 0).count();
    return anyRank == 0 ? "missing ranks: " + unclaimed
        : (worldSize - guests.size()) + " are missing, out of ranks " + unclaimed;
  }

  /** Whether somebody here would take this rank. */
  boolean isWanted(int rank) {
    return guests.stream().anyMatch(g -> g.request.getRank() == rank || g.request.getRank() < 0);
  }

  /** Those below the largest world size that nobody here has asked for. */
  Set<Integer> unclaimedRanks() {
    Set<Integer> ranks = IntStream.range(0, worldSize).boxed().collect(Collectors.toCollection(TreeSet::new));
    guests.forEach(g -> ranks.remove(g.request.getRank()));
    return ranks;
  }

  void close(RegattaException reason) {
    List<Guest> all = List.copyOf(guests);
    guests.clear();
    all.forEach(g -> g.done.accept(null, reason));
  }

  /**
   * The join that waits, if anybody does.
   *
   * @param absent the ranks that it waits for
   */
  List<OpenGather> open(Collection<Integer> absent) {
    if (guests.isEmpty()) {
      return List.of();
    }
    OpenGather.Builder join = OpenGather.newBuilder().setGroup(group);
    absent.forEach(rank -> join.addMissing(MissingMember.newBuilder().setRank(rank).setLastStep(-1)));
    return List.of(join.build());
  }

  List<Wait> waits(Collection<Integer> absent) {
    return waits(absent.stream().map(r -> new Wait.Peer("rank " + r, -1, 0)).toList());
  }

  /** The joins that wait here, for these. */
  List<Wait> waits(List<Wait.Peer> missing) {
    List<Wait> waits = new ArrayList<>();
    for (Guest guest : guests) {
      waits.add(new Wait(guest.request.getMember(), "join", "group " + group, guest.sinceMillis, missing));
    }
    return waits;
  }
}
