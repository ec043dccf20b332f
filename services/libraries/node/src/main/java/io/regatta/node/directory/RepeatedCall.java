package io.regatta.node.directory;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.connection.PeerLog;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.slf4j.LoggerFactory;

/**
 * A call to a peer that is repeated every half second until the peer answers, or has been silent for too long. Logs
 * once that it waits for the peer, and stands in {@code /why}. Owned by the loop on which it is started.
 */
public final class RepeatedCall<T> {

  /**
   * The words for messages and {@code /why}.
   *
   * @param who the caller, e.g. {@code trainer 1 of job census}
   * @param operation e.g. {@code join of group census}
   * @param where the peer, e.g. {@code the rendezvous at 10.0.0.7:36000}
   */
  public record Words(String who, String operation, String where) {}

  private static final PeerLog WAITING = PeerLog.ofEvents(LoggerFactory.getLogger(RepeatedCall.class));
  private static final PeerLog ANSWERED = PeerLog.ofEvents(LoggerFactory.getLogger(RepeatedCall.class));
  private static final long AGAIN_MILLIS = 500;
  private static final long ASK_MILLIS = 1000;

  private final Loop loop;
  private final Words words;
  private final Duration patience;
  private final Predicate<Throwable> repeatable;
  private final Supplier<Future<T>> call;
  private final Waits.Handle wait;
  private final Promise<T> end = Promise.promise();
  private long heardNanos;
  /** Timer of the next attempt; null while an attempt is under way. */
  private Timer again;
  private RegattaException over;
  private boolean said;

  /**
   * Creates a call that is not made yet; its wait begins.
   *
   * @param loop the owner's
   * @param patience how long the peer may be silent
   * @param repeatable whether a call that has failed in this way may be repeated
   * @param waitsFor the processes for which the peer delays its answer; called on any thread. If it fails, the peer is
   *     shown
   */
  public RepeatedCall(Loop loop, Waits waits, Words words, Duration patience, Predicate<Throwable> repeatable,
      Supplier<Future<List<Wait.Peer>>> waitsFor, Supplier<Future<T>> call) {
    this.loop = loop;
    heardNanos = loop.clock().nanos();
    this.words = words;
    this.patience = patience;
    this.repeatable = repeatable;
    this.call = call;
    wait = waits.begin(words.who, words.operation, words.where,
        () -> waitsFor.get().timeout(ASK_MILLIS, TimeUnit.MILLISECONDS).otherwise(peer(words)));
  }

  /** Creates a call that the peer answers at once. */
  public RepeatedCall(Loop loop, Waits waits, Words words, Duration patience, Predicate<Throwable> repeatable,
      Supplier<Future<T>> call) {
    this(loop, waits, words, patience, repeatable, () -> Future.succeededFuture(peer(words)), call);
  }

  private static List<Wait.Peer> peer(Words words) {
    return List.of(Wait.Peer.named(words.where));
  }

  /**
   * Makes the call; to be called once. Fails as the call does, and with {@code PeerLost} when patience is at its end.
   */
  public Future<T> start() {
    attempt();
    return end.future();
  }

  /** Notes that the peer is alive. */
  public void heard() {
    heardNanos = loop.clock().nanos();
  }

  private void attempt() {
    again = null;
    call.get().onComplete(this::answered);
  }

  private void answered(AsyncResult<T> answer) {
    if (answer.succeeded() || !repeatable.test(answer.cause())) {
      end(answer);
      return;
    }
    if (over != null) {
      end(Future.failedFuture(over));
      return;
    }
    long silentNanos = loop.clock().nanos() - heardNanos;
    if (silentNanos >= patience.toNanos()) {
      end(Future.failedFuture(new PeerLost(String.format(Locale.ROOT, "%s has waited for its %s, and %s has not answered for %.1f s: %s; "
          + "start it, and then this one again", words.who, words.operation, words.where, silentNanos / 1e9,
          answer.cause().getMessage()), answer.cause())));
      return;
    }
    if (!said) {
      said = true;
      WAITING.warn("{} waits for {} to answer its {}, and asks again every {} ms until that has been silent for "
          + "{} s: {}", words.who, words.where, words.operation, AGAIN_MILLIS, patience.toSeconds(),
          answer.cause().getMessage());
    }
    again = loop.after(AGAIN_MILLIS, this::attempt);
  }

  private void end(AsyncResult<T> how) {
    wait.close();
    if (again != null) {
      again.cancel();
      again = null;
    }
    if (how.succeeded()) {
      if (said) {
        ANSWERED.info("{}: {} has answered its {}", words.who, words.where, words.operation);
      }
      end.tryComplete(how.result());
    } else {
      end.tryFail(how.cause());
    }
  }

  /** Stops repeating the call. An answer that is on its way still arrives, so that its result can be given back. */
  public void giveUp(RegattaException why) {
    over = why;
    if (again != null) {
      end(Future.failedFuture(why));
    }
  }
}
