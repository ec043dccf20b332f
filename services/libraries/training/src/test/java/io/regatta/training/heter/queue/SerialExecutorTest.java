package io.regatta.training.heter.queue;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SerialExecutorTest {

  @Test
  void runsTasksOneAfterTheOther_whateverThreadGivesThem() {
    SerialExecutor executor = new SerialExecutor();
    int[] sum = new int[1]; // not atomic: two tasks at a time would lose counts
    CompletableFuture<?>[] givers = IntStream.range(0, 4).mapToObj(giver -> CompletableFuture.runAsync(() -> {
      for (int i = 0; i < 20_000; i++) {
        executor.execute(() -> sum[0]++);
      }
    })).toArray(CompletableFuture[]::new);
    CompletableFuture.allOf(givers).join();
    CompletableFuture<Integer> result = new CompletableFuture<>();
    executor.execute(() -> result.complete(sum[0]));
    assertThat(result.join()).isEqualTo(80_000);
  }

  @Test
  void runsATaskThatATaskHasGiven_afterIt() {
    SerialExecutor executor = new SerialExecutor();
    List<String> order = new ArrayList<>();
    executor.execute(() -> {
      executor.execute(() -> order.add("second"));
      order.add("first");
    });
    assertThat(order).containsExactly("first", "second");
  }
}
