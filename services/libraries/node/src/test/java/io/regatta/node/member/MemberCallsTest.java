package io.regatta.node.member;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls into a cluster that does not answer for a while. */
@Timeout(60)
class MemberCallsTest {

  private static final int THREADS = 8;

  private final Vertx vertx = Vertx.vertx();
  private final MemberCalls calls = new MemberCalls(vertx, "a-test");
  private final CountDownLatch answered = new CountDownLatch(1);

  @AfterEach
  void close() {
    answered.countDown();
    calls.close();
    get(vertx.close());
  }

  private void stopAnswering() {
    for (int i = 0; i < THREADS; i++) {
      calls.call(() -> {
        answered.await();
        return null;
      });
    }
  }

  @Test
  void when_too_many_calls_wait_then_the_next_one_fails_and_the_others_are_carried_out() {
    stopAnswering();
    List<Future<Integer>> waiting = new ArrayList<>();
    for (int i = 0; i < MemberCalls.WAITING_MAX; i++) {
      int number = i;
      waiting.add(calls.call(() -> number));
    }
    assertThatThrownBy(() -> get(calls.call(() -> -1))).isInstanceOf(Overloaded.class)
        .hasMessageContaining("calls into Hazelcast wait for the threads a-test");
    answered.countDown();
    for (int i = 0; i < waiting.size(); i++) {
      assertThat(get(waiting.get(i))).isEqualTo(i);
    }
    calls.close();
    assertThatThrownBy(() -> get(calls.call(() -> -1))).isInstanceOf(Cancelled.class);
  }

  @Test
  void when_an_owner_ends_then_what_it_wrote_before_is_removed_and_nothing_is_written_later() {
    Map<String, String> map = new ConcurrentHashMap<>();
    AtomicBoolean ended = new AtomicBoolean();
    Lock turn = new ReentrantLock();
    MemberCalls writing = calls.owned(turn, ended::get);
    CountDownLatch begun = new CountDownLatch(1);
    Future<String> slow = writing.call(() -> {
      begun.countDown();
      answered.await();
      return map.put("entry", "old");
    });
    get(calls.call(() -> {
      begun.await();
      return null;
    }));
    Future<String> late = writing.call(() -> map.put("entry", "late"));
    ended.set(true);
    Future<String> removed = calls.owned(turn, () -> false).call(() -> map.remove("entry"));
    answered.countDown();
    get(slow);
    assertThatThrownBy(() -> get(late)).isInstanceOf(Cancelled.class);
    assertThat(get(removed)).isEqualTo("old");
    assertThat(map).isEmpty();
  }
}
