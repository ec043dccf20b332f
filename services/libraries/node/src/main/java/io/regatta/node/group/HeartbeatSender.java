package io.regatta.node.group;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.protocol.client.KnownGroup;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.GroupsReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.vertx.LoopFutures;
import io.vertx.core.Future;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sender of a {@link GroupMembership}'s heartbeats, on a connection of their own, and receiver of the news of the
 * group in their answers. Owned by the membership, on its loop. A heartbeat that gets no answer is logged once and
 * repeated: a rendezvous that is gone declares nobody lost. Its deadline is a quarter of the lease. After that the next
 * one uses a new connection, because a flow whose packets are dropped on the way looks alive for minutes. A heartbeat
 * that is refused is the last.
 */
final class HeartbeatSender {
  private static final Logger LOG = LoggerFactory.getLogger(HeartbeatSender.class);
  private static final PeerLog TROUBLES = PeerLog.ofEvents(LOG);
  /** Heartbeats per lease, and the number lost in a row after which the rendezvous declares a member lost. */
  private static final int BEATS_PER_LEASE = 4;

  private final Loop loop;
  private final Supplier<RendezvousClient> connect;
  private final String group;
  private final String kind;
  private final LongSupplier lastStep;
  private LongSupplier examples = () -> 0;
  private final Consumer<GroupView> changed;
  private final Consumer<RegattaException> refused;
  private RendezvousClient calls;
  private long deadlineMillis;
  private int rank;
  private long incarnation;
  private long generation;
  private final KnownGroup known = new KnownGroup();
  /** Generation of the last reported view. */
  private long viewed;
  private Timer timer = Timer.NONE;
  private boolean alive;
  private boolean beating;
  private boolean complained;

  /**
   * Creates a sender that does not beat yet.
   *
   * @param connect makes a client with a connection of its own; this closes it
   * @param kind the members' kind, for messages
   * @param lastStep sent with each beat
   * @param changed receives the group's view after its membership has changed
   * @param refused receives the reason when a beat has been refused
   */
  HeartbeatSender(Loop loop, Supplier<RendezvousClient> connect, String group, String kind, LongSupplier lastStep, Consumer<GroupView> changed,
      Consumer<RegattaException> refused) {
    this.loop = loop;
    this.connect = connect;
    this.calls = connect.get();
    this.group = group;
    this.kind = kind;
    this.lastStep = lastStep;
    this.changed = changed;
    this.refused = refused;
  }

  /** Sends with each later beat how many examples the member has trained. */
  void counts(LongSupplier trained) {
    examples = trained;
  }

  /** Starts to beat for the seat that this answer has given. */
  void begin(JoinReply seat) {
    timer.cancel();
    rank = seat.getRank();
    incarnation = seat.getIncarnation();
    generation = seat.getView().getGeneration();
    viewed = generation;
    known.apply(seat.getView());
    alive = true;
    deadlineMillis = Math.max(1, seat.getLeaseMs() / BEATS_PER_LEASE);
    timer = loop.every(deadlineMillis, () -> {
      if (!beating) { // beats that a slow rendezvous has not answered must not pile up
        beat();
      }
    });
  }

  boolean isAlive() {
    return alive;
  }

  /** Returns the latest generation that an answer has named. */
  long generation() {
    return generation;
  }

  /** Sends the member's last progress before it leaves; it may be lost. */
  Future<Void> last(RendezvousClient by) {
    return by.heartbeat(group, rank, incarnation, lastStep.getAsLong(), examples.getAsLong()).otherwiseEmpty().mapEmpty();
  }

  /** Sends an extra beat, though the last one may not have been answered. */
  void beat() {
    beating = true;
    RendezvousClient by = calls;
    LoopFutures.within(loop, deadlineMillis,
        by.heartbeat(group, rank, incarnation, lastStep.getAsLong(), examples.getAsLong())).onComplete(beat -> {
      if (by != calls) { // an answer on a connection that has been given up
        return;
      }
      beating = false;
      if (!alive) {
        return;
      }
      if (beat.cause() instanceof TimeoutException) {
        reconnect();
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
        TROUBLES.warn("{} {} of group {}: no answer to a heartbeat, it continues and tries again: {}", kind, rank,
            group, beat.cause().getMessage());
      }
    });
  }

  private void reconnect() {
    if (!complained) {
      complained = true;
      TROUBLES.warn("{} {} of group {}: no answer to a heartbeat within {} ms, it is repeated over a new connection",
          kind, rank, group, deadlineMillis);
    }
    RendezvousClient old = calls;
    calls = connect.get();
    old.close().onFailure(e -> LOG.debug("closing a connection that does not answer: {}", e.toString()));
    beat();
  }

  /** Returns the current connection, until the next beat that is not answered. */
  RendezvousClient connection() {
    return calls;
  }

  Future<Void> close() {
    return calls.close();
  }

  /** Fetches the view. If that fails, it is repeated after the next heartbeat: its generation is still newer. */
  private void look() {
    calls.groups(group, known.number()).map(GroupsReply::getGroupsList)
        .onFailure(e -> LOG.debug("{} {} of group {}: no view of the group: {}", kind, rank, group, e.toString()))
        .onSuccess(views -> {
          if (alive && !views.isEmpty() && known.apply(views.get(0)) && views.get(0).getGeneration() > viewed) {
            viewed = views.get(0).getGeneration();
            changed.accept(known.view());
          }
        });
  }

  void end() {
    alive = false;
    timer.cancel();
  }
}
