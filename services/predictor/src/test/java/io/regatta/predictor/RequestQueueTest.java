package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.RequestExamples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Requests of one float per example; the model's scores are the float and its negative. */
class RequestQueueTest {

  private static final Layout LAYOUT = new Layout(1, 0);

  private final VirtualTime time = new VirtualTime();
  private final Loop loop = time.loop("model");
  private final List<Integer> batches = new ArrayList<>();

  private RequestQueue queue(int maxBatch, long delayMillis, int maxWaiting) {
    return queue(maxBatch, delayMillis, maxWaiting, this::scores);
  }

  private RequestQueue queue(int maxBatch, long delayMillis, int maxWaiting, Function<SlotBatch, Prediction> model) {
    return new RequestQueue(loop, new BatchingLimits(maxBatch, delayMillis, maxWaiting, 1000), LAYOUT, model, () ->
        "the model");
  }

  private Prediction scores(SlotBatch batch) {
    batches.add(batch.rows());
    float[] scores = new float[2 * batch.rows()];
    for (int row = 0; row < batch.rows(); row++) {
      scores[2 * row] = batch.dense()[row];
      scores[2 * row + 1] = -batch.dense()[row];
    }
    return new Prediction(scores, 2, 7);
  }

  /** A request whose negative values are malformed. */
  private static RequestExamples request(float... values) {
    return new RequestExamples() {
      @Override
      public int rows() {
        return values.length;
      }

      @Override
      public long bytes() {
        return values.length;
      }

      @Override
      public int read(SlotBatch into, int at) {
        for (int i = 0; i < values.length; i++) {
          if (values[i] < 0) {
            throw new InvalidInput("line " + (i + 1) + " is negative");
          }
          into.dense()[at + i] = values[i];
        }
        return values.length;
      }
    };
  }

  @Test
  void requestsThatWaitTogetherAreOneBatch() {
    RequestQueue queue = queue(5, 0, 100);
    List<CompletableFuture<Prediction>> answers = List.of(queue.add(request(1, 2)), queue.add(request(3)),
        queue.add(request()),
        queue.add(request(4, 5, 6)), queue.add(request(7, 8, 9, 10, 11, 12)));
    assertThat(batches).as("computed within the call").isEmpty();
    time.settle();
    assertThat(batches).containsExactly(3, 3, 6);
    assertThat(answers.get(0).join().scores()).containsExactly(1, -1, 2, -2);
    assertThat(answers.get(1).join()).extracting(Prediction::outputs, Prediction::step).containsExactly(2, 7L);
    assertThat(answers.get(2).join().scores()).isEmpty();
    assertThat(answers.get(3).join().scores()).containsExactly(4, -4, 5, -5, 6, -6);
    assertThat(answers.get(4).join().scores()).hasSize(12);
    assertThat(queue.waitingExamples()).isZero();
  }

  @Test
  void withOneAsTheMostEachRequestIsComputedAlone() {
    RequestQueue queue = queue(1, 0, 100);
    queue.add(request(1));
    queue.add(request(2, 3));
    queue.add(request(4));
    time.settle();
    assertThat(batches).containsExactly(1, 2, 1);
  }

  @Test
  void aRequestWaitsForOthersUntilTheDelayIsOverOrTheBatchIsFull() {
    RequestQueue queue = queue(3, 10, 100);
    CompletableFuture<Prediction> first = queue.add(request(1));
    time.advance(Duration.ofMillis(9));
    CompletableFuture<Prediction> second = queue.add(request(2));
    assertThat(first).isNotDone();
    time.advance(Duration.ofMillis(1));
    assertThat(first).isDone();
    assertThat(second).isDone();
    time.advance(Duration.ofMillis(100));
    queue.add(request(3));
    queue.add(request(4, 5));
    time.settle();
    assertThat(batches).as("the second is full before the delay").containsExactly(2, 3);
    CompletableFuture<Prediction> last = queue.add(request(6));
    time.advance(Duration.ofMillis(9));
    assertThat(last).as("the timer of the full batch does not end its delay").isNotDone();
    time.advance(Duration.ofMillis(1));
    assertThat(last).isDone();
  }

  @Test
  void malformedRequestsFailAlone() {
    RequestQueue queue = queue(10, 0, 100);
    CompletableFuture<Prediction> good = queue.add(request(1));
    CompletableFuture<Prediction> bad = queue.add(request(2, -3));
    CompletableFuture<Prediction> after = queue.add(request(4));
    time.settle();
    assertThatThrownBy(bad::join).hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("line 2 is negative");
    assertThat(good.join().scores()).containsExactly(1, -1);
    assertThat(after.join().scores()).containsExactly(4, -4);
    assertThat(batches).containsExactly(2);
  }

  @Test
  void aRequestThatTheModelCannotComputeFailsAlone() {
    RequestQueue queue = queue(10, 0, 100, batch -> {
      for (int row = 0; row < batch.rows(); row++) {
        if (batch.dense()[row] == 13) {
          throw new IllegalStateException("no row 13");
        }
      }
      return scores(batch);
    });
    CompletableFuture<Prediction> good = queue.add(request(1, 2));
    CompletableFuture<Prediction> bad = queue.add(request(13));
    CompletableFuture<Prediction> after = queue.add(request(4));
    time.settle();
    assertThatThrownBy(bad::join).hasCauseInstanceOf(IllegalStateException.class);
    assertThat(good.join().scores()).containsExactly(1, -1, 2, -2);
    assertThat(after.join().scores()).containsExactly(4, -4);
  }

  /** A request that has announced fewer examples than it has, or more than memory holds. */
  @Test
  void aWrongBoundFailsItsRequestAlone() {
    RequestQueue queue = queue(4, 0, Integer.MAX_VALUE);
    CompletableFuture<Prediction> first = queue.add(announced(1, 1, 2, 3));
    CompletableFuture<Prediction> second = queue.add(request(4, 5, 6));
    time.settle();
    assertThatThrownBy(first::join).hasMessageContaining("a request has 3 examples, but had announced 1");
    assertThat(second.join().scores()).containsExactly(4, -4, 5, -5, 6, -6);
    CompletableFuture<Prediction> huge = queue.add(announced(Integer.MAX_VALUE, 1));
    time.settle();
    assertThatThrownBy(huge::join).hasCauseInstanceOf(OutOfMemoryError.class);
    CompletableFuture<Prediction> after = queue.add(request(7));
    time.settle();
    assertThat(after.join().scores()).containsExactly(7, -7);
  }

  private static RequestExamples announced(int rows, float... values) {
    RequestExamples examples = request(values);
    return new RequestExamples() {
      @Override
      public int rows() {
        return rows;
      }

      @Override
      public long bytes() {
        return examples.bytes();
      }

      @Override
      public int read(SlotBatch into, int at) {
        return examples.read(into, at);
      }
    };
  }

  @Test
  void cancelledRequestsLeaveTheQueue() {
    RequestQueue queue = queue(10, 0, 4);
    CompletableFuture<Prediction> first = queue.add(request(1, 2, 3));
    assertThat(queue.add(request(4, 5))).isCompletedExceptionally();
    first.cancel(false);
    assertThat(queue.waitingExamples()).isZero();
    CompletableFuture<Prediction> second = queue.add(request(4, 5));
    time.settle();
    assertThat(second.join().scores()).containsExactly(4, -4, 5, -5);
    assertThat(batches).containsExactly(2);
  }

  @Test
  void tooManyExamplesOrBytesAreRefused() {
    RequestQueue queue = queue(10, 0, 4);
    CompletableFuture<Prediction> large = queue.add(request(1, 2, 3, 4, 5, 6)); // if no other waits
    assertThatThrownBy(queue.add(request(7))::join).hasCauseInstanceOf(Overloaded.class)
        .hasMessageContaining("6 examples of 1 request wait for the model; try again later");
    time.settle();
    assertThat(large.join().scores()).hasSize(12);
    RequestQueue small = new RequestQueue(loop, new BatchingLimits(10, 0, 100, 3), LAYOUT, this::scores, () ->
        "the model");
    small.add(request(1, 2));
    assertThat(small.add(request(1, 2))).as("of 4 bytes together").isCompletedExceptionally();
    assertThat(small.add(request(1))).isNotDone();
  }

  @Test
  void theLastRequestsAreServedWhenTheQueueCloses() {
    RequestQueue queue = queue(2, 1000, 100);
    List<CompletableFuture<Prediction>> answers = List.of(queue.add(request(1)), queue.add(request(2, 3)),
        queue.add(request(4)));
    queue.close();
    loop.execute(queue::drain);
    time.settle();
    assertThat(answers).allMatch(CompletableFuture::isDone);
    assertThatThrownBy(queue.add(request(5))::join).hasCauseInstanceOf(Cancelled.class)
        .hasMessageContaining("the model has been closed");
    time.advance(Duration.ofSeconds(2));
    assertThat(batches.stream().mapToInt(rows -> rows).sum()).isEqualTo(4);
  }
}
