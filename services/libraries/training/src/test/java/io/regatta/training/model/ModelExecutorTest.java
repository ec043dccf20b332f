package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ai.djl.engine.Engine;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.node.testing.LeftoverThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ModelExecutorTest {

  private static final long A_WHILE = 500;
  private static final long LONG = TimeUnit.MINUTES.toMillis(5);

  private static <T> T run(long idleMillis, Callable<T> task) throws Exception {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    ModelExecutor.start("regatta-model-test", idleMillis, task, outcome);
    return outcome.get(20, TimeUnit.SECONDS);
  }

  @Test
  void a_thread_whose_task_ended_well_serves_the_next_job_and_ends_when_none_comes() throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Thread first = run(A_WHILE, () -> {
      Thread.currentThread().interrupt();
      return Thread.currentThread();
    });
    assertThat(first.isDaemon()).isTrue();
    // The thread waits for work a moment after it has completed the outcome: a job may still get a new one.
    Set<Thread> seen = new HashSet<>(Set.of(first));
    boolean again = false;
    for (int i = 0; i < 1000 && !again; i++) {
      Thread next = run(A_WHILE, () -> {
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        assertThat(Thread.currentThread().getName()).isEqualTo("regatta-model-test");
        return Thread.currentThread();
      });
      again = !seen.add(next);
    }
    assertThat(again).as("a thread is used again").isTrue();
    threads.assertNone();
  }

  @Test
  void a_thread_whose_task_ended_by_an_error_is_not_used_again() {
    Thread[] failing = new Thread[1];
    assertThatThrownBy(() -> run(LONG, () -> {
      failing[0] = Thread.currentThread();
      throw new StackOverflowError("of the program");
    })).isInstanceOf(ExecutionException.class).hasCauseInstanceOf(StackOverflowError.class);
    assertTimeoutPreemptively(Duration.ofSeconds(20), () -> failing[0].join());
  }

  @Test
  void to_the_engine_a_thread_is_as_new_for_each_job() throws Exception {
    assumeTrue(Engines.isMxnet(Engines.start("auto", 1)));
    List<Drawn> drawn = new ArrayList<>();
    Set<Thread> seen = new HashSet<>();
    for (int i = 0; i < 100 && seen.size() == drawn.size(); i++) {
      drawn.add(run(A_WHILE, ModelExecutorTest::draw));
      seen.add(drawn.get(i).by());
    }
    assertThat(seen.size()).as("a thread is used again").isLessThan(drawn.size());
    assertThat(drawn).allSatisfy(d -> assertThat(d.numbers()).isEqualTo(drawn.get(0).numbers()));
  }

  private record Drawn(Thread by, float[] numbers) {}

  /** Draws without a seed of its own, and leaves a collector open. */
  private static Drawn draw() {
    Engine engine = Engines.current();
    engine.newGradientCollector(); // fails if the thread still records
    try (NDManager manager = engine.newBaseManager()) {
      return new Drawn(Thread.currentThread(), manager.randomUniform(0, 1, new Shape(1000)).toFloatArray());
    }
  }

  @Test
  void a_thread_serves_others_after_a_job_that_was_stopped() throws Exception {
    assumeTrue(Engines.isMxnet(Engines.start("auto", 1)));
    Set<Thread> seen = ConcurrentHashMap.newKeySet();
    int jobs = 0;
    while (seen.size() == jobs && jobs < 100) {
      jobs++;
      assertThatThrownBy(() -> run(A_WHILE, () -> {
        seen.add(Thread.currentThread());
        throw new Cancelled("stopped");
      })).hasCauseInstanceOf(Cancelled.class);
    }
    assertThat(seen.size()).as("a thread is used again").isLessThan(jobs);
  }

  @Test
  void an_interrupt_reaches_the_task_and_nobody_after_it() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    CompletableFuture<Void> outcome = new CompletableFuture<>();
    ModelExecutor waiting = ModelExecutor.start("regatta-model-waiting", A_WHILE, () -> {
      never.await();
      return null;
    }, outcome);
    waiting.interrupt();
    assertThatThrownBy(() -> outcome.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(InterruptedException.class);
    CompletableFuture<String> next = new CompletableFuture<>();
    CountDownLatch go = new CountDownLatch(1);
    ModelExecutor.start("regatta-model-next", 0, () -> {
      go.await();
      return "undisturbed";
    }, next);
    waiting.interrupt();
    go.countDown();
    assertThat(next.get(20, TimeUnit.SECONDS)).isEqualTo("undisturbed");
  }
}
