package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.shard.Wait;
import io.regatta.node.Directory;
import io.regatta.node.Node;
import io.regatta.node.Waits;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.JoinReply;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server's place among the servers: its index, and an incarnation that grows with every start. Configured, or given
 * by the rendezvous, which then hears of this server by heartbeats until it leaves. Owned by the verticle's event loop.
 */
final class ServerSeat {

  /** The group at the rendezvous in which servers get their indices. */
  static final String GROUP = "servers";
  /** How long giving the index back may take: a frozen rendezvous finds out by the lease. */
  private static final long LEAVE_MILLIS = 1000;
  private static final Logger LOG = LoggerFactory.getLogger(ServerSeat.class);

  private final Vertx vertx;
  private final int index;
  private final long incarnation;
  private final RendezvousClient rendezvous;
  private long heart = -1;
  private boolean beating;
  private boolean complained;

  private ServerSeat(Vertx vertx, int index, long incarnation, RendezvousClient rendezvous) {
    this.vertx = vertx;
    this.index = index;
    this.incarnation = incarnation;
    this.rendezvous = rendezvous;
  }

  /** The configured index, if there is one; else waits for the rendezvous and for the other servers. */
  static Future<ServerSeat> take(Vertx vertx, Node node, ParameterServerConfig config, String member, String endpoint) {
    if (config.index() >= 0) {
      return Future.succeededFuture(new ServerSeat(vertx, config.index(), System.currentTimeMillis(), null));
    }
    Duration timeout = node.config().readyTimeout();
    String who = "parameter server at " + endpoint;
    return node.directory().awaitAny(Directory.RENDEZVOUS, timeout, who).compose(found -> {
      Directory.Instance at = found.get(0);
      RendezvousClient client = new RendezvousClient(vertx, at.host(), at.controlPort());
      Waits.Handle wait = node.waits().begin(who, "join of group " + GROUP, "the rendezvous at " + at.endpoint(),
          List.of(new Wait.Peer(config.servers() + " x " + Directory.PARAMETER_SERVER, -1, 0)));
      return client.join(GROUP, config.servers(), -1, member, endpoint, timeout.toMillis())
          .onComplete(done -> wait.close())
          .map(joined -> {
            ServerSeat seat = new ServerSeat(vertx, joined.getRank(), joined.getIncarnation(), client);
            seat.live(joined);
            return seat;
          })
          .recover(e -> client.close().transform(closed -> Future.failedFuture(e)));
    });
  }

  private void live(JoinReply joined) {
    LOG.info("parameter server has index {} of {}", index, joined.getView().getWorldSize());
    heart = vertx.setPeriodic(Math.max(1, joined.getLeaseMs() / 4), id -> beat());
  }

  private void beat() {
    if (beating) {
      return;
    }
    beating = true;
    rendezvous.heartbeat(GROUP, index, incarnation, -1).onComplete(answer -> {
      beating = false;
      if (answer.succeeded()) {
        complained = false;
      } else if (answer.cause() instanceof StaleGeneration) {
        vertx.cancelTimer(heart);
        LOG.error("parameter server {} was declared lost while it lived ({}); it serves the jobs that it has, but "
            + "restart it before the next one", index, answer.cause().getMessage());
      } else if (!complained) {
        complained = true;
        LOG.warn("parameter server {} cannot reach the rendezvous: {}; it serves on", index,
            answer.cause().getMessage());
      }
    });
  }

  int index() {
    return index;
  }

  long incarnation() {
    return incarnation;
  }

  /** Gives the index back. */
  Future<Void> leave() {
    vertx.cancelTimer(heart);
    if (rendezvous == null) {
      return Future.succeededFuture();
    }
    return rendezvous.leave(GROUP, index, incarnation).timeout(LEAVE_MILLIS, TimeUnit.MILLISECONDS)
        .onFailure(e -> LOG.debug("leaving group {}: {}", GROUP, e.toString()))
        .transform(left -> rendezvous.close());
  }
}
