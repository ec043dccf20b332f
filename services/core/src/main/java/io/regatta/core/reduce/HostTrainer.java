package io.regatta.core.reduce;

import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;

/** What {@link AggregationRounds} knows of one life of one trainer of its host. Owned by it, on its thread. */
final class HostTrainer {
  final TrainerId id;
  /** Highest step pushed, -1 if none. */
  long lastStep = -1;
  /** Stands in a barrier: rounds do not wait for it until it registers again. */
  boolean sitsOut;
  long lastSeenMillis;
  /** Pushes that have not been answered. */
  int pending;
  /** To be run when the last of them is, once the trainer has left. */
  Runnable whenAnswered;

  HostTrainer(TrainerId id, long nowMillis) {
    this.id = id;
    this.lastSeenMillis = nowMillis;
  }

  /** Whether the round of a step waits for it. */
  boolean isDue(long step) {
    return !sitsOut && lastStep < step;
  }

  void tellIfAnswered() {
    Runnable answered = whenAnswered;
    if (pending == 0 && answered != null) {
      whenAnswered = null;
      answered.run();
    }
  }

  String name() {
    return "trainer " + id.rank();
  }

  Wait.Peer peer() {
    return new Wait.Peer(name(), lastStep, lastSeenMillis);
  }
}
