package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.BiConsumer;

/**
 * The formation of a group of one size: it forms when as many have come as its first join announced; only then ranks are given out,
 * so that those who take any rank leave the named ones free. From then on a rank whose holder left or was lost may be taken again. A
 * member who wants one that is held may be the next life of a holder that is dead, and waits until that one is heard or lost. Part of
 * its {@link Group}, on that one's thread.
 */
final class FixedFormation implements Formation {

  private final Group group;
  private final int worldSize;
  private final Seats seats;
  private final JoinQueue joinQueue;
  private final Issuer issuer;
  private final RendezvousConfig config;

  FixedFormation(Group group, int worldSize, Seats seats, JoinQueue joinQueue, Issuer issuer, RendezvousConfig config) {
    this.group = group;
    this.worldSize = worldSize;
    this.seats = seats;
    this.joinQueue = joinQueue;
    this.issuer = issuer;
    this.config = config;
  }

  private boolean hasFormed() {
    return !seats.all().isEmpty();
  }

  @Override
  public Runnable join(JoinRequest request, long now, long deadlineMillis, BiConsumer<JoinReply, RegattaException> done) {
    if (request.getIncarnation() != 0) {
      throw new InvalidInput("group " + group.name() + " is not elastic and has no next generation: " + request.getMember()
          + " is to join it with incarnation 0, not " + request.getIncarnation());
    }
    joinQueue.replace(request);
    if (!hasFormed()) {
      JoinQueue.Guest guest = joinQueue.enter(request, now, deadlineMillis, done);
      formIfAllHaveCome(now);
      return guest::withdraw;
    }
    if (joinQueue.size() >= worldSize) {
      throw new Conflict("group " + group.name() + " is full: as many newcomers wait for one of its " + worldSize + " ranks");
    }
    JoinQueue.Guest guest = joinQueue.enter(request, now, deadlineMillis, done);
    Group.FORMATIONS.info("{}: {} waits until it is known who lives of {}", group.name(), request.getMember(),
        seats.describeActive(now));
    return guest::withdraw;
  }

  @Override
  public void proceed(long now) {
    if (hasFormed()) {
      answerNextLives(now);
    } else {
      formIfAllHaveCome(now);
    }
  }

  private void formIfAllHaveCome(long now) {
    if (joinQueue.size() == worldSize) {
      form(now);
    }
  }

  private void form(long now) {
    List<JoinQueue.Guest> guests = joinQueue.seatAll();
    GroupMember[] seated = new GroupMember[worldSize];
    for (int rank = 0; rank < worldSize; rank++) {
      seated[rank] = new GroupMember(rank, issuer.nextIncarnation(), guests.get(rank).request(), now);
    }
    group.seatAll(seated.clone(), guests.stream().map(JoinQueue.Guest::done).toList());
  }

  /**
   * Newcomers to a group that has formed, who may be next lives of its members. One is refused when the holder of
   * its rank, or every holder if it would take any, has been heard since it came. It gets the rank of one that is gone when all
   * others have been heard since, or are gone as well: if all are, the whole job was started again, and it belongs to a new
   * group ({@link #takeNextLives}), whatever lease ends first. So does one of another run when this run has ended with success.
   * Those that name a rank come first.
   */
  private void answerNextLives(long now) {
    List<JoinQueue.Guest> named = joinQueue.guests().stream().sorted(Comparator.comparing(guest -> guest.request().getRank() < 0)).toList();
    for (JoinQueue.Guest guest : named) {
      JoinRequest request = guest.request();
      if (group.hasSucceeded() && !request.getRunId().isEmpty() && !group.runIds().contains(request.getRunId())) {
        continue;
      }
      OptionalInt free = seats.free(request.getRank());
      if (free.isPresent()) {
        boolean known = seats.active().findAny().isPresent()
            && seats.active().allMatch(guest::hears);
        if (known && guest.withdraw()) {
          group.seat(new GroupMember(free.getAsInt(), issuer.nextIncarnation(), request, now), guest.done());
        }
      } else if (seats.wanted(request.getRank()).allMatch(guest::hears)) {
        joinQueue.refuse(guest, seats.refusal(request.getRank(), now));
      }
    }
  }

  @Override
  public void left(boolean ended, long now) {
    if (group.hasSucceeded()) {
      joinQueue.guests().stream().filter(guest -> group.runIds().contains(guest.request().getRunId()))
          .forEach(guest -> joinQueue.refuse(guest, group.nothingLeft(guest.request())));
    }
    proceed(now);
  }

  @Override
  public List<JoinQueue.Guest> takeNextLives() {
    return hasFormed() ? joinQueue.takeAll() : List.of();
  }

  @Override
  public String state(long now) {
    return hasFormed() ? "these of group " + group.name() + " are not gone yet, or have not been heard since: "
        + seats.describeActive(now) + ". Their leases of " + GroupMember.seconds(config.leaseMs()) + " will tell; wait longer: "
        + "--ready-timeout, or node.ready_timeout_seconds" : joinQueue.state();
  }

  @Override
  public Collection<Integer> absentRanks() {
    return hasFormed() ? seats.active().map(holder -> holder.rank).filter(joinQueue::isWanted).toList() : joinQueue.unclaimedRanks();
  }

  /** Who waits for a rank of a group that has formed waits for another group then. */
  @Override
  public boolean isOver() {
    return joinQueue.size() == 0 || hasFormed();
  }
}
