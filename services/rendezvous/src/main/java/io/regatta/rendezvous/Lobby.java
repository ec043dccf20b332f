package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.MissingMember;
import io.regatta.protocol.rendezvous.OpenGather;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Those who wait for a {@link Group} to form, in order of arrival. Owned by the group, on its thread. A guest who
 * names no rank gets the lowest one that nobody named, when all have come.
 */
final class Lobby {

  /** One waiting join. Compared by identity: each is a call of its own. */
  static final class Guest {
    private final JoinRequest request;
    private final long sinceMillis;
    private final long deadlineMillis;
    private final BiConsumer<JoinReply, RegattaException> done;

    private Guest(JoinRequest request, long sinceMillis, long deadlineMillis,
        BiConsumer<JoinReply, RegattaException> done) {
      this.request = request;
      this.sinceMillis = sinceMillis;
      this.deadlineMillis = deadlineMillis;
      this.done = done;
    }

    JoinRequest request() {
      return request;
    }

    BiConsumer<JoinReply, RegattaException> done() {
      return done;
    }
  }

  private final String group;
  private final int worldSize;
  private final Set<Guest> guests = new LinkedHashSet<>();

  Lobby(String group, int worldSize) {
    this.group = group;
    this.worldSize = worldSize;
  }

  int size() {
    return guests.size();
  }

  Guest enter(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done) {
    for (Guest guest : guests) {
      if (request.getRank() >= 0 && guest.request.getRank() == request.getRank()) {
        throw new Conflict("rank " + request.getRank() + " of group " + group + " is held by "
            + guest.request.getMember() + (guest.request.getEndpoint().isEmpty() ? "" : " at "
            + guest.request.getEndpoint()) + ", which joined " + Holder.seconds(now - guest.sinceMillis)
            + " ago; take another rank");
      }
    }
    Guest guest = new Guest(request, now, deadlineMillis, done);
    guests.add(guest);
    return guest;
  }

  void withdraw(Guest guest) {
    guests.remove(guest);
  }

  /** All guests by rank, as many as the world size; the lobby is empty afterwards. */
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

  /** Fails the joins whose time is over; the others wait on. */
  void expire(long now) {
    List<Guest> late = guests.stream().filter(g -> now >= g.deadlineMillis).toList();
    if (late.isEmpty()) {
      return;
    }
    String state = "only " + guests.size() + " of " + worldSize + " members of group " + group + " have come, "
        + missing();
    late.forEach(guests::remove);
    for (Guest guest : late) {
      guest.done.accept(null, new PeerLost("join timed out after "
          + Holder.seconds(now - guest.sinceMillis) + ": " + state
          + ". Start the missing ones, or wait longer: --ready-timeout, or node.ready_timeout_seconds"));
    }
  }

  private String missing() {
    String unclaimed = unclaimedRanks().stream().map(String::valueOf).collect(Collectors.joining(", "));
    int anyRank = (int) guests.stream().filter(g -> g.request.getRank() < 0).count();
    return anyRank == 0 ? "missing ranks: " + unclaimed
        : (worldSize - guests.size()) + " are missing, out of ranks " + unclaimed;
  }

  private Set<Integer> unclaimedRanks() {
    Set<Integer> ranks = IntStream.range(0, worldSize).boxed().collect(Collectors.toCollection(TreeSet::new));
    guests.forEach(g -> ranks.remove(g.request.getRank()));
    return ranks;
  }

  void close(RegattaException reason) {
    List<Guest> all = List.copyOf(guests);
    guests.clear();
    all.forEach(g -> g.done.accept(null, reason));
  }

  /** The join that waits, if anybody does. */
  List<OpenGather> open() {
    if (guests.isEmpty()) {
      return List.of();
    }
    OpenGather.Builder join = OpenGather.newBuilder().setGroup(group);
    unclaimedRanks().forEach(rank -> join.addMissing(MissingMember.newBuilder().setRank(rank).setLastStep(-1)));
    return List.of(join.build());
  }

  List<Wait> waits() {
    List<Wait.Peer> missing = unclaimedRanks().stream().map(r -> new Wait.Peer("rank " + r, -1, 0)).toList();
    List<Wait> waits = new ArrayList<>();
    for (Guest guest : guests) {
      waits.add(new Wait(guest.request.getMember(), "join", "group " + group, guest.sinceMillis, missing));
    }
    return waits;
  }
}
