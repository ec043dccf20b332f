package io.regatta.node.group;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.vertx.core.Vertx;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The signs of life of a {@link Membership}, on a connection of their own, and the news of the group that come with their answers.
 * One that gets no answer is complained of once and tried again: a rendezvous that is gone declares nobody lost. One that is
 * refused is the last. Owned by the membership, on its loop.
 */
final class Heart {
  private static final Logger LOG = LoggerFactory.getLogger(Heart.class);
  /** Heartbeats per lease: so many must be lost in a row before the rendezvous gives a member up. */
  private static final int BEATS_PER_LEASE = 4;

  private final Vertx vertx;
  private final RendezvousClient calls;
  private final String group;
  private final String kind;
  private final LongSupplier lastStep;
  private final Consumer<GroupView> changed;
  private final Consumer<RegattaException> refused;
  private int rank;
  private long incarnation;
  private long generation;
  /** Generation of the last view that was told. */
  private long viewed;
  private long timer = -1;
  private boolean alive;
  private boolean beating;
  private boolean complained;

  /**
   * It does not beat yet.
   *
   * @param kind what the members are, for messages
   * @param lastStep told with each beat
   * @param changed told the group's view after its membership has changed
   * @param refused told why, when a beat has been refused
   */
  Heart(Vertx vertx, RendezvousClient calls, String group, String kind, LongSupplier lastStep, Consumer<GroupView> changed,
      Consumer<RegattaException> refused) {
    this.vertx = vertx;
    this.calls = calls;
    this.group = group;
    this.kind = kind;
    this.lastStep = lastStep;
    this.changed = changed;
    this.refused = refused;
  }

  /** Beats for the seat that this answer has given. */
  void begin(JoinReply seat) {
    vertx.cancelTimer(timer);
    rank = seat.getRank();
    incarnation = seat.getIncarnation();
    generation = seat.getView().getGeneration();
    viewed = generation;
    alive = true;
    timer = vertx.setPeriodic(Math.max(1, seat.getLeaseMs() / BEATS_PER_LEASE), id -> {
      if (!beating) { // those that a slow rendezvous has not answered must not pile up
        beat();
      }
    });
  }

  boolean isAlive() {
    return alive;
  }

  /** The latest generation that an answer has told. */
  long generation() {
    return generation;
  }

  /** Out of turn, though the last one may not have been answered. */
  void beat() {
    beating = true;
    calls.heartbeat(group, rank, incarnation, lastStep.getAsLong()).onComplete(beat -> {
      beating = false;
      if (!alive) {
        return;
      }
      if (beat.succeeded()) {
        generation = Math.max(generation, beat.result());
        complained = false;
        if (generation > viewed) {
          look();
        }
      } else if (beat.cause() instanceof StaleGeneration || beat.cause() instanceof NotOwner) {
        end();
        refused.accept((RegattaException) beat.cause());
      } else if (!complained) {
        complained = true;
        LOG.warn("{} {} of group {}: no answer to a heartbeat, it goes on and tries again: {}", kind, rank, group,
            beat.cause().getMessage());
      }
    });
  }

  /** A look that fails is repeated after the next heartbeat: its generation is still newer. */
  private void look() {
    calls.groups(group).map(GroupsReply::getGroupsList)
        .onFailure(e -> LOG.debug("{} {} of group {}: no view of the group: {}", kind, rank, group, e.toString()))
        .onSuccess(views -> {
          if (alive && !views.isEmpty() && views.get(0).getGeneration() > viewed) {
            viewed = views.get(0).getGeneration();
            changed.accept(views.get(0));
          }
        });
  }

  void end() {
    alive = false;
    vertx.cancelTimer(timer);
  }
}
