package io.regatta.node.group;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.Unanswered;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A join of an elastic group, or of its next generation, that outlives broken connections: it is asked again, where the
 * rendezvous takes it for the same one, until it is answered or the rendezvous has been silent for too long. Meanwhile it is asked
 * now and then whether it is there, for an answer may take as long as it likes. Owned by its {@link Membership}, on that one's loop.
 */
final class PatientJoin {
  private static final Logger LOG = LoggerFactory.getLogger(PatientJoin.class);
  private static final long AGAIN_MILLIS = 500;
  private static final long HEAR_MILLIS = 5_000;

  private final Vertx vertx;
  private final RendezvousClient calls;
  private final JoinRequest request;
  private final String who;
  private final String where;
  private final Duration timeout;
  private final Duration patience;
  private final Promise<JoinReply> joined = Promise.promise();
  private final long begunNanos = System.nanoTime();
  private long heardNanos = begunNanos;
  private boolean complained;
  private long hearing;
  /** Of the next attempt; -1: one is under way. */
  private long again = -1;
  private RegattaException over;

  /**
   * @param who for messages
   * @param where the rendezvous, for messages
   * @param timeout told the rendezvous: how long to wait for others
   * @param patience how long the rendezvous may be silent
   */
  PatientJoin(Vertx vertx, RendezvousClient calls, JoinRequest request, String who, String where, Duration timeout,
      Duration patience) {
    this.vertx = vertx;
    this.calls = calls;
    this.request = request;
    this.who = who;
    this.where = where;
    this.timeout = timeout;
    this.patience = patience;
  }

  /** Asks; called once. Fails as {@link RendezvousClient#join(JoinRequest)}, and with {@code PeerLost} when patience is at its end. */
  Future<JoinReply> ask() {
    hearing = vertx.setPeriodic(HEAR_MILLIS, id -> calls.groups(request.getGroup()).onSuccess(v -> heardNanos = System.nanoTime()));
    attempt();
    return joined.future();
  }

  private void attempt() {
    again = -1;
    long left = timeout.toMillis() - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begunNanos);
    calls.join(request.toBuilder().setTimeoutMs(Math.max(1, left)).build()).onComplete(this::answered);
  }

  private void answered(AsyncResult<JoinReply> answer) {
    if (answer.succeeded() || !Unanswered.isCauseOf(answer.cause())) {
      end(answer);
      return;
    }
    if (over != null) {
      end(Future.failedFuture(over));
      return;
    }
    long silentNanos = System.nanoTime() - heardNanos;
    if (silentNanos >= patience.toNanos()) {
      end(Future.failedFuture(new PeerLost(String.format(Locale.ROOT, "%s has waited to join group %s, and %s has not answered for "
          + "%.1f s: %s; start it, and then this one again", who, request.getGroup(), where, silentNanos / 1e9,
          answer.cause().getMessage()), answer.cause())));
      return;
    }
    if (!complained) {
      complained = true;
      LOG.warn("{} waits for {} to answer its join of group {}, and asks again every {} ms until that has been silent for {} s: {}",
          who, where, request.getGroup(), AGAIN_MILLIS, patience.toSeconds(), answer.cause().getMessage());
    }
    again = vertx.setTimer(AGAIN_MILLIS, id -> attempt());
  }

  private void end(AsyncResult<JoinReply> how) {
    vertx.cancelTimer(hearing);
    vertx.cancelTimer(again);
    again = -1;
    if (how.succeeded()) {
      if (complained) {
        LOG.info("{}: {} has answered its join of group {}", who, where, request.getGroup());
      }
      joined.tryComplete(how.result());
    } else {
      joined.tryFail(how.cause());
    }
  }

  /** Asks no more; an answer that is on its way still comes, so that a seat which nobody wants any longer can be given up. */
  void giveUp(RegattaException why) {
    over = why;
    if (again >= 0) {
      end(Future.failedFuture(why));
    }
  }
}
