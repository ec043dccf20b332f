package io.regatta.core.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Virtual time keeps the contract of {@link Loop}, and what is built on {@link Clock}. */
class LoopTest {
  private final VirtualTime time = new VirtualTime();
  private final Loop loop = time.loop("owner");
  private final List<String> ran = new ArrayList<>();

  @Test
  void runs_tasks_in_their_order_and_never_within_the_call() {
    loop.execute(() -> {
      loop.execute(() -> ran.add("third"));
      ran.add("first");
    });
    loop.defer(() -> ran.add("second"));
    assertThat(ran).isEmpty();
    time.settle();
    assertThat(ran).containsExactly("first", "second", "third");
  }

  @Test
  void is_current_while_its_tasks_run() {
    Loop other = time.loop("other");
    loop.execute(() -> ran.add(loop.isCurrent() + " " + other.isCurrent()));
    time.settle();
    assertThat(ran).containsExactly("true false");
    assertThat(loop.isCurrent()).isFalse();
  }

  @Test
  void runs_timers_at_their_time_until_they_are_cancelled() {
    loop.after(30, () -> ran.add("after " + time.nanos()));
    Timer[] every = new Timer[1];
    every[0] = loop.every(10, () -> {
      ran.add("every " + time.nanos());
      if (time.nanos() == 40_000_000) {
        every[0].cancel();
      }
    });
    loop.after(20, () -> ran.add("never")).cancel();
    time.advance(Duration.ofSeconds(1));
    assertThat(ran).containsExactly("every 10000000", "every 20000000", "after 30000000", "every 30000000", "every 40000000");
    assertThat(time.nanos()).isEqualTo(1_000_000_000);
  }

  @Test
  void decides_between_loops_by_the_seed_alone() {
    assertThat(order(7)).isEqualTo(order(7));
    Set<List<String>> orders = new HashSet<>();
    for (long seed = 0; seed < 20; seed++) {
      orders.add(order(seed));
    }
    assertThat(orders).hasSizeGreaterThan(3);
  }

  private static List<String> order(long seed) {
    VirtualTime seeded = new VirtualTime(seed);
    List<String> order = new ArrayList<>();
    for (String name : List.of("a", "b", "c")) {
      Loop of = seeded.loop(name);
      of.execute(() -> order.add(name + 1));
      of.execute(() -> order.add(name + 2));
    }
    seeded.settle();
    assertThat(order).containsSubsequence("a1", "a2").containsSubsequence("b1", "b2").containsSubsequence("c1", "c2");
    return order;
  }

  @Test
  void fails_when_a_condition_can_not_hold_any_more() {
    assertThatThrownBy(() -> time.runUntil(() -> false, Duration.ofSeconds(1))).isInstanceOf(AssertionError.class)
        .hasMessageContaining("nothing is left");
    loop.every(10, () -> { });
    assertThatThrownBy(() -> time.runUntil(() -> false, Duration.ofSeconds(1))).isInstanceOf(AssertionError.class)
        .hasMessageContaining("after PT1S");
  }

  @Test
  void measures_and_limits_time() {
    Stopwatch watch = Stopwatch.start(time);
    Deadline deadline = Deadline.inMillis(time, 20);
    Deadline never = Deadline.in(time, Duration.ofSeconds(Long.MAX_VALUE));
    time.advance(Duration.ofNanos(12_600_000));
    assertThat(watch.millis()).isEqualTo(12);
    assertThat(watch.seconds()).isEqualTo(0.0126);
    assertThat(watch).hasToString("0.0 s");
    assertThat(deadline.leftMillis()).isEqualTo(8); // a timer that long ends after it
    assertThat(deadline.isPast()).isFalse();
    time.advance(Duration.ofMillis(8));
    assertThat(deadline.isPast()).isTrue();
    assertThat(deadline.leftMillis()).isZero();
    assertThat(never.isPast()).isFalse();
    assertThat(never.leftNanos()).isPositive();
  }
}
