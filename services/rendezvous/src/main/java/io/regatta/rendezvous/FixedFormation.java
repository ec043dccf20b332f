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
 * The formation of a group of one size: it forms when the number of members that its first join announced has come.
 * Ranks are assigned only then, so that members that take any rank leave the named ones free. From then on a rank whose
 * holder left or was lost may be taken again. A newcomer that wants a held rank may be the next life of a dead holder,
 * and waits until the holder sends a heartbeat or is lost. Part of its {@link Group}, on its thread.
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
      JoinQueue.PendingJoin join = joinQueue.enter(request, now, deadlineMillis, done);
      formIfAllHaveCome(now);
      return join::withdraw;
    }
    if (joinQueue.size() >= worldSize) {
      throw new Conflict("group " + group.name() + " is full: as many newcomers wait for one of its " + worldSize + " ranks");
    }
    JoinQueue.PendingJoin join = joinQueue.enter(request, now, deadlineMillis, done);
    Group.FORMATIONS.info("{}: {} waits until it is known which of these live: {}", group.name(), request.getMember(),
        seats.describeActive(now));
    return join::withdraw;
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
    List<JoinQueue.PendingJoin> joins = joinQueue.seatAll();
    GroupMember[] seated = new GroupMember[worldSize];
    for (int rank = 0; rank < worldSize; rank++) {
      seated[rank] = new GroupMember(rank, issuer.nextIncarnation(), joins.get(rank).request(), now);
    }
    group.seatAll(seated.clone(), joins.stream().map(JoinQueue.PendingJoin::done).toList());
  }

  /**
   * Answers newcomers to a group that has formed, which may be next lives of its members. A newcomer is refused when
   * the holder of its rank, or every holder if it would take any, has been heard since it came. It gets the rank of a
   * gone member when all others have been heard since, or are gone as well. If all are gone, the whole job was
   * restarted, and the newcomer belongs to a new group ({@link #takeNextLives}), whichever lease ends first. The same
   * holds for a newcomer of another run when this run has ended with success. Newcomers that name a rank come first.
   */
  private void answerNextLives(long now) {
    List<JoinQueue.PendingJoin> named = joinQueue.joins().stream().sorted(Comparator.comparing(join -> join.request().getRank() < 0)).toList();
    for (JoinQueue.PendingJoin join : named) {
      JoinRequest request = join.request();
      if (group.hasSucceeded() && !request.getRunId().isEmpty() && !group.runIds().contains(request.getRunId())) {
        continue;
      }
      OptionalInt free = seats.free(request.getRank());
      if (free.isPresent()) {
        boolean known = seats.active().findAny().isPresent()
            && seats.active().allMatch(join::hears);
        if (known && join.withdraw()) {
          group.seat(new GroupMember(free.getAsInt(), issuer.nextIncarnation(), request, now), join.done());
        }
      } else if (seats.wanted(request.getRank()).allMatch(join::hears)) {
        joinQueue.refuse(join, seats.refusal(request.getRank(), now));
      }
    }
  }

  @Override
  public void left(boolean ended, long now) {
    if (group.hasSucceeded()) {
      joinQueue.joins().stream().filter(join -> group.runIds().contains(join.request().getRunId()))
          .forEach(join -> joinQueue.refuse(join, group.nothingLeft(join.request())));
    }
    proceed(now);
  }

  @Override
  public List<JoinQueue.PendingJoin> takeNextLives() {
    return hasFormed() ? joinQueue.takeAll() : List.of();
  }

  @Override
  public String state(long now) {
    return hasFormed() ? "these of group " + group.name() + " are not gone yet, or have not been heard since: "
        + seats.describeActive(now) + ". Their leases of " + GroupMember.seconds(config.leaseMs()) + " decide; wait longer: "
        + "--ready-timeout, or node.ready_timeout_seconds" : joinQueue.state();
  }

  @Override
  public Collection<Integer> absentRanks() {
    return hasFormed() ? seats.active().map(holder -> holder.rank).filter(joinQueue::isWanted).toList() : joinQueue.unclaimedRanks();
  }

  /** Returns true also while newcomers wait for a rank of a group that has formed: they wait for another group then. */
  @Override
  public boolean isOver() {
    return joinQueue.size() == 0 || hasFormed();
  }
}
