package io.regatta.trainer.djl;

import io.regatta.trainer.session.PeerRanks;
import io.regatta.trainer.session.TrainerSession;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The all-reduces of one step's buckets under way, in the order in which they were sent, and how much of their time the model
 * thread has spent otherwise (in backward) than waiting for them. Belongs to a model thread.
 */
final class BucketSums {

  /** {@code done}: when it was completed, on the thread that completed it. */
  private record UnderWay(String what, long began, CompletableFuture<Long> done) {}

  private final TrainerSession session;
  private final PeerRanks peers;
  private final StepTimes times;
  private final ArrayDeque<UnderWay> underWay = new ArrayDeque<>();
  private ByteBuffer memory;
  private FloatBuffer floats;
  private int inStep;
  private long exchanges;
  private long steps;
  /** Since the step's first bucket was sent; and of all steps, with somebody's bucket under way. */
  private long stepBegan;
  private long stepEnded;
  private long busyNanos;
  private long waitedNanos;

  BucketSums(TrainerSession session, PeerRanks peers, StepTimes times) {
    this.session = session;
    this.peers = peers;
    this.times = times;
  }

  /** A step's gradients come to lie in this memory. */
  void begins(ByteBuffer flat) {
    memory = flat;
    floats = flat.duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    stepBegan = 0;
    inStep = 0;
  }

  /** Of the last step; null before the first. Nothing of it is under way when a step is over. */
  ByteBuffer memory() {
    return memory;
  }

  FloatBuffer floats() {
    return floats;
  }

  /** Begins to sum the floats {@code [from .. to)} over the ranks. */
  void send(String what, int from, int to) {
    long now = System.nanoTime();
    stepBegan = stepBegan == 0 ? now : stepBegan;
    ByteBuffer part = memory.slice(from * Float.BYTES, (to - from) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    underWay.add(new UnderWay(what, now, peers.sum(part).thenApply(v -> System.nanoTime())));
    inStep++;
  }

  /** Waits for the one that was sent first. */
  void awaitNext() {
    UnderWay next = underWay.remove();
    long begin = System.nanoTime();
    stepEnded = session.await("all-reduce of " + next.what(), next.done());
    long waited = System.nanoTime() - begin;
    waitedNanos += Math.min(waited, Math.max(0, stepEnded - begin));
    times.add(StepTimes.Part.PULL, waited);
    if (times.traced()) {
      times.span("wait: all-reduce of " + next.what(), begin, Map.of("under_way_ms", (stepEnded - next.began()) / 1e6));
    }
  }

  /** All buckets of a step of this rank are there. */
  void stepped() {
    steps++;
    exchanges += inStep;
    busyNanos += stepEnded - stepBegan;
  }

  /**
   * {@code exchanges_per_step}; {@code exchange_ms}, from a step's first bucket being sent to its last being there; and
   * {@code exchange_hidden}, the share of that in which the model thread did not wait for it.
   */
  Map<String, Double> figures() {
    return steps == 0 ? Map.of() : Map.of("exchanges_per_step", (double) exchanges / steps,
        "exchange_ms", busyNanos / 1e6 / steps,
        "exchange_hidden", busyNanos <= 0 ? 1 : Math.max(0, 1 - (double) waitedNanos / busyNanos));
  }
}
