package io.regatta.core.reduce;

import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import java.util.concurrent.CompletableFuture;

/** The state of one incarnation of one trainer of the host in {@link AggregationRounds}. Owned by it, on its thread. */
final class HostTrainer {
  final TrainerId id;
  /** Highest step pushed, -1 if none. */
  long lastStep = -1;
  /** True if it stands in a barrier: rounds do not wait for it until it registers again. */
  boolean sitsOut;
  long lastSeenMillis;
  /** Number of pushes that have not been answered. */
  int pending;
  /** Completes when the last of them has been answered, once the trainer has left. */
  final CompletableFuture<Void> answered = new CompletableFuture<>();
  boolean hasLeft;

  HostTrainer(TrainerId id, long nowMillis) {
    this.id = id;
    this.lastSeenMillis = nowMillis;
  }

  /** Returns true if the round of a step waits for it. */
  boolean isDue(long step) {
    return !sitsOut && lastStep < step;
  }

  void tellIfAnswered() {
    if (pending == 0 && hasLeft) {
      answered.complete(null);
    }
  }

  String name() {
    return "trainer " + id.rank();
  }

  Wait.Peer peer() {
    return new Wait.Peer(name(), lastStep, lastSeenMillis);
  }
}
