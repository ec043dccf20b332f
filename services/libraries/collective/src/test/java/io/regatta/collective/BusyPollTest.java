package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.SingleThreadEventLoop;
import io.regatta.core.testing.TestClock;
import io.regatta.node.process.PlainVertx;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Spells of 1 ms on a loop, by a clock that the test sets. */
@Timeout(60)
class BusyPollTest {
  private static final Vertx VERTX = Vertx.vertx(PlainVertx.options());
  private static final long SPELL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final ContextInternal context = (ContextInternal) VERTX.getOrCreateContext();
  private final AtomicBoolean worth = new AtomicBoolean(true);
  private final AtomicLong nanos = new AtomicLong();

  @AfterAll
  static void close() {
    get(VERTX.close());
  }

  private BusyPoll poll(long spellNanos) {
    return new BusyPoll(context.nettyEventLoop(), spellNanos, worth::get, TestClock.ofNanos(nanos::get));
  }

  /** On the loop. */
  private <T> T on(Callable<T> task) {
    Promise<T> done = Promise.promise();
    context.runOnContext(v -> Future.<T>future(p -> {
      try {
        p.complete(task.call());
      } catch (Exception e) {
        p.fail(e);
      }
    }).onComplete(done));
    return get(done.future());
  }

  private void begin(BusyPoll poll) {
    on(() -> {
      poll.progress();
      return null;
    });
  }

  /** Returns once a turn has ended that began after the call: what the poll has left to be done by then is done. */
  private void awaitEndOfTurn() {
    on(() -> null);
    Promise<Void> over = Promise.promise();
    ((SingleThreadEventLoop) context.nettyEventLoop()).executeAfterEventLoopIteration(over::complete);
    get(over.future());
  }

  /** Returns once the loop has begun turns without sleep; for ever if it never does. */
  private void awaitPolling(BusyPoll poll) {
    long before = on(poll::turns);
    while (on(poll::turns) < before + 2) {
      Thread.onSpinWait();
    }
  }

  private void assertSleeps(BusyPoll poll) {
    awaitEndOfTurn();
    long before = on(poll::turns);
    get(on(() -> VERTX.timer(1, TimeUnit.MILLISECONDS)));
    awaitEndOfTurn();
    assertThat(on(poll::turns)).isEqualTo(before);
  }

  @Test
  void the_loop_stays_awake_and_tasks_and_timers_have_their_turn_until_it_is_not_worth_it() {
    BusyPoll poll = poll(SPELL_NANOS);
    begin(poll);
    for (int i = 0; i < 100; i++) {
      on(() -> null);
    }
    get(on(() -> VERTX.timer(1, TimeUnit.MILLISECONDS)));
    awaitPolling(poll);
    worth.set(false);
    assertSleeps(poll);
    begin(poll); // nothing is awaited
    assertSleeps(poll);
  }

  @Test
  void a_spell_ends_when_nothing_happens_and_begins_anew_after_ever_more_waits() {
    BusyPoll poll = poll(SPELL_NANOS);
    for (int skipped : new int[] {0, 1, 4}) {
      long before = on(poll::turns);
      for (int i = 0; i < skipped; i++) {
        begin(poll);
      }
      assertSleeps(poll);
      assertThat(on(poll::turns)).as("spells in vain").isEqualTo(before);
      begin(poll);
      awaitPolling(poll);
      nanos.addAndGet(SPELL_NANOS);
      assertSleeps(poll);
    }
  }

  @Test
  void without_a_spell_it_never_polls() {
    BusyPoll poll = poll(0);
    begin(poll);
    assertSleeps(poll);
    assertThat(on(poll::turns)).isZero();
  }
}
