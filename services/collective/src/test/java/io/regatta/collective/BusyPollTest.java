package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.process.PlainVertx;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;

class BusyPollTest {
  private static final Vertx VERTX = Vertx.vertx(PlainVertx.options());

  private final ContextInternal context = (ContextInternal) VERTX.getOrCreateContext();
  private final AtomicBoolean worth = new AtomicBoolean(true);

  @AfterAll
  static void close() {
    get(VERTX.close());
  }

  private BusyPoll poll(long spellMillis) {
    return new BusyPoll(context.nettyEventLoop(), TimeUnit.MILLISECONDS.toNanos(spellMillis), worth::get);
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

  /** None in some milliseconds. */
  private boolean sleeps(BusyPoll poll) {
    long before = on(poll::turns);
    get(VERTX.timer(10, TimeUnit.MILLISECONDS));
    return on(poll::turns) == before;
  }

  @Test
  void the_loop_stays_awake_and_tasks_and_timers_have_their_turn_until_it_is_not_worth_it() {
    BusyPoll poll = poll(60_000);
    begin(poll);
    for (int i = 0; i < 100; i++) {
      on(() -> null);
    }
    assertThat(sleeps(poll)).isFalse();
    worth.set(false);
    on(() -> null); // the turn in which it is seen may have begun
    on(() -> null);
    assertThat(sleeps(poll)).isTrue();
    begin(poll);
    assertThat(sleeps(poll)).as("nothing is awaited").isTrue();
  }

  @Test
  void a_spell_ends_when_nothing_happens_and_begins_anew_after_ever_more_waits() {
    BusyPoll poll = poll(1);
    for (int skipped : new int[] {0, 1, 4}) {
      long before = on(poll::turns);
      for (int i = 0; i < skipped; i++) {
        begin(poll);
      }
      assertThat(on(poll::turns)).as("spells in vain").isEqualTo(before);
      begin(poll);
      get(VERTX.timer(50, TimeUnit.MILLISECONDS));
      assertThat(on(poll::turns)).isGreaterThan(before);
      assertThat(sleeps(poll)).isTrue();
    }
  }

  @Test
  void without_a_spell_it_never_polls() {
    BusyPoll poll = poll(0);
    begin(poll);
    assertThat(on(poll::turns)).isZero();
    assertThat(sleeps(poll)).isTrue();
  }
}
