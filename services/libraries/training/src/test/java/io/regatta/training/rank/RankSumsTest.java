package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.TrainerSession;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sums on the way back, with other ranks that answer when the test says. */
@Timeout(30)
class RankSumsTest {

  /** Sums that are under way. */
  private final BlockingQueue<CompletableFuture<Void>> calls = new LinkedBlockingQueue<>();
  /** Runs first in each of these calls. */
  private Runnable beginning = () -> {};
  private final PeerRanks peers = new PeerRanks() {
    @Override
    public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
      beginning.run();
      CompletableFuture<Void> call = new CompletableFuture<>();
      calls.add(call);
      return call;
    }

    @Override
    public CompletableFuture<Void> gather(long[] parts) {
      throw new AssertionError();
    }

    @Override
    public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
      throw new AssertionError();
    }
  };
  private final TrainerSession session = (TrainerSession) Proxy.newProxyInstance(getClass().getClassLoader(),
      new Class<?>[] {TrainerSession.class}, (self, method, arguments) -> switch (method.getName()) {
        case "await" -> ((CompletionStage<?>) arguments[1]).toCompletableFuture().join();
        case "job" -> Toy.job();
        case "clock" -> SystemClock.get();
        case "trainer" -> new TrainerId(0, 1);
        default -> throw new AssertionError(method);
      });

  /** Returns sums after a forward pass of two layers. */
  private RankSums sums(Duration turn) throws Exception {
    RankSums sums = new RankSums(session, peers, turn);
    sums.begins();
    for (int layer = 0; layer < 2; layer++) {
      CompletableFuture<Integer> forward = CompletableFuture.supplyAsync(() -> sums.forward(new float[3]), task -> new Thread(task).start());
      calls.take().complete(null);
      assertThat(forward.get()).isEqualTo(layer);
    }
    return sums;
  }

  /** A thread of the engine comes back to a layer; what that ends with. */
  private static final class Backward {
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final Thread thread;

    Backward(RankSums sums, int layer) {
      thread = new Thread(() -> {
        try {
          sums.backward(layer, new float[3]);
          end.complete(null);
        } catch (RuntimeException e) {
          end.completeExceptionally(e);
        }
      }, "layer " + layer);
      thread.start();
    }

    void awaitWaiting() {
      while (thread.getState() != Thread.State.WAITING) { // not for a time, nor for the lock
        assertThat(end).isNotDone();
        Thread.onSpinWait();
      }
    }
  }

  @Test
  void a_layer_does_not_count_the_time_in_which_a_slow_peer_is_waited_for() throws Exception {
    RankSums sums = sums(Duration.ofNanos(1)); // over as soon as it counts
    Backward last = new Backward(sums, 1);
    CompletableFuture<Void> under = calls.take();
    Backward first = new Backward(sums, 0);
    first.awaitWaiting();
    assertThat(sums.failure()).as("asked while a sum is under way").isEmpty();
    under.complete(null);
    last.end.get();
    calls.take().complete(null);
    first.end.get();
    assertThat(calls).isEmpty();
  }

  @Test
  void a_layer_whose_turn_does_not_come_names_the_one_that_it_waits_for() throws Exception {
    RankSums sums = sums(Duration.ofNanos(1));
    assertThatThrownBy(() -> sums.backward(0, new float[3])).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("layer 1 of its SyncBatchNorm").hasMessageContaining("has no part in the loss");
    assertThatThrownBy(() -> sums.forward(new float[3])).isInstanceOf(InvalidInput.class);
  }

  @Test
  void a_layer_whose_sum_cannot_be_begun_lets_the_others_end() throws Exception {
    for (Runnable broken : List.<Runnable>of(() -> {
      throw new IllegalStateException("no streams");
    }, () -> {
      throw new NoClassDefFoundError("no streams");
    })) {
      beginning = () -> {};
      RankSums sums = sums(Duration.ofMinutes(1));
      beginning = broken;
      for (int layer : new int[] {1, 0}) {
        assertThatThrownBy(() -> sums.backward(layer, new float[3])).isInstanceOf(Cancelled.class)
            .hasMessageContaining("layer 1").hasMessageContaining("no streams");
      }
      assertThat(sums.failure()).containsInstanceOf(Cancelled.class);
    }
  }

  @Test
  void closing_does_not_wait_for_the_others() throws Exception {
    RankSums sums = sums(Duration.ofMinutes(1));
    Backward last = new Backward(sums, 1);
    CompletableFuture<Void> under = calls.take();
    Backward first = new Backward(sums, 0);
    first.awaitWaiting();
    sums.close();
    assertThatThrownBy(() -> first.end.get()).hasRootCauseInstanceOf(Cancelled.class);
    under.completeExceptionally(new PeerLost("rank 1 is gone"));
    assertThatThrownBy(last.end::get).as("what failed first").hasRootCauseInstanceOf(Cancelled.class);
  }
}
