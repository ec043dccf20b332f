package io.regatta.trainer.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.dense.DenseMemory;
import io.regatta.trainer.replica.StepTimes;
import io.regatta.trainer.session.TrainerSession;
import java.nio.FloatBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The exchanges of one step's buckets under way, in the order in which they were sent, each by a {@link GradientSum},
 * and how much of their time the model thread has spent otherwise (in backward) than waiting for them. Belongs to a
 * model thread.
 */
final class BucketSums {

  /** A bucket of at most so many bytes takes the header along: one call less. */
  private static final int CARRYING_BYTES = 1 << 20;

  /** {@code done}: when it was completed, on the thread that completed it. */
  private record UnderWay(String what, int from, int to, long began, CompletableFuture<Done> done) {}

  /** When, and whether the sum is known to be finite. */
  private record Done(long at, boolean finite) {}

  private final TrainerSession session;
  private final CountedRanks peers;
  private final GradientSum sum;
  /** Of the gradients; what lies behind them is the header. */
  private final int numel;
  private final StepTimes times;
  private final ArrayDeque<UnderWay> underWay = new ArrayDeque<>();
  private TensorMemory memory;
  private FloatBuffer floats;
  private int inStep;
  /** All sums of the step so far are known to be. */
  private boolean finite;
  private long exchanges;
  private double bytes;
  private double bytesBefore;
  private long steps;
  /** Since the step's first bucket was sent; and of all steps, with somebody's bucket under way. */
  private long stepBegan;
  private long stepEnded;
  private long busyNanos;
  private long waitedNanos;

  BucketSums(TrainerSession session, CountedRanks peers, GradientSum sum, int numel, StepTimes times) {
    this.session = session;
    this.peers = peers;
    this.sum = sum;
    this.numel = numel;
    this.times = times;
  }

  /**
   * A step's gradients come to lie in this memory.
   *
   * @param weight of this rank in the step
   */
  void begins(TensorMemory flat, long step, double weight) {
    memory = flat;
    floats = flat.bytes().asFloatBuffer();
    sum.begins(flat, step, weight);
    stepBegan = 0;
    finite = true;
    inStep = 0;
    bytesBefore = peers.bytes();
  }

  /** Memory for a step's gradients and the header, zeros. Blocks. */
  TensorMemory allocate(int bytes) {
    return sum.memory(bytes);
  }

  /** Of the last step; null before the first. Nothing of it is under way when a step is over. */
  TensorMemory memory() {
    return memory;
  }

  FloatBuffer floats() {
    return floats;
  }

  /**
   * Begins to sum the floats {@code [from .. to)} over the ranks; those behind the gradients as they are, in float32.
   */
  void send(String what, int from, int to) {
    long now = now();
    CompletableFuture<Boolean> header = CompletableFuture.completedFuture(true);
    int end = to;
    if (to > numel && sendsHeaderApart(from)) {
      end = numel;
      header = peers.sum(memory, numel, to, WireType.FLOAT32);
      inStep++;
    }
    CompletableFuture<Boolean> gradients = sum.send(from, end);
    inStep++;
    underWay.add(new UnderWay(what, from, Math.min(to, numel), now,
        header.thenCombine(gradients, (h, g) -> new Done(session.clock().nanos(), g))));
  }

  /**
   * Whether the header goes before the bucket that begins here and ends with the gradients, in a call of its own: who takes part with
   * nothing learns by it whether there is anything to take part in, before the bucket travels.
   */
  boolean sendsHeaderApart(int from) {
    return !sum.carriesHeader() || (long) (numel - from) * Float.BYTES > CARRYING_BYTES;
  }

  /** Sends the header alone, up to {@code to}; where that is done, see {@link #sendsHeaderApart}, the bucket follows without it. */
  void sendHeader(String what, int to) {
    long now = now();
    inStep++;
    underWay.add(new UnderWay(what, numel, numel, now,
        peers.sum(memory, numel, to, WireType.FLOAT32).thenApply(summed -> new Done(session.clock().nanos(), true))));
  }

  private long now() {
    long now = session.clock().nanos();
    stepBegan = stepBegan == 0 ? now : stepBegan;
    return now;
  }

  /** Waits for the one that was sent first; then its floats are the sum. */
  void awaitNext() {
    UnderWay next = underWay.remove();
    long begin = session.clock().nanos();
    Done done = session.await("all-reduce of " + next.what(), next.done());
    stepEnded = done.at();
    finite &= done.finite();
    long waited = session.clock().nanos() - begin;
    waitedNanos += Math.min(waited, Math.max(0, stepEnded - begin));
    times.add(StepTimes.Part.PULL, waited);
    if (times.traced()) {
      times.span("wait: all-reduce of " + next.what(), begin, Map.of("under_way_ms", (stepEnded - next.began()) / 1e6));
    }
    sum.receive(next.from(), next.to());
  }

  /** The step's sum divided by the ranks' weights: as it is read, if there is no doubt that it holds what the sum holds. */
  DenseMemory mean(DenseMemory sum, double weight) {
    if (weight >= 1) {
      return (finite ? sum.knownFinite() : sum).times((float) (1 / weight));
    }
    Scaling.scale(floats, 0, numel, weight == 0 ? 0 : 1 / weight);
    return sum;
  }

  /** Waits until nothing uses the memory any more; for a step that has failed. */
  void drain() {
    while (!underWay.isEmpty()) {
      UnderWay next = underWay.remove();
      session.await("end of the all-reduce of " + next.what(), next.done().handle((v, e) -> null));
    }
  }

  /** All buckets of a step of this rank are there. */
  void stepped() {
    sum.stepped();
    steps++;
    exchanges += inStep;
    bytes += peers.bytes() - bytesBefore;
    busyNanos += stepEnded - stepBegan;
  }

  /**
   * {@code exchanges_per_step}; {@code exchange_bytes_per_step} that this rank sends ({@link CountedRanks}); {@code
   * exchange_ms}, from a step's first bucket being sent to its last being there; and {@code exchange_hidden}, the share
   * of that in which the model thread did not wait for it.
   */
  Map<String, Double> figures() {
    return steps == 0 ? Map.of() : Map.of("exchanges_per_step", (double) exchanges / steps,
        "exchange_bytes_per_step", bytes / steps, "exchange_ms", busyNanos / 1e6 / steps,
        "exchange_hidden", busyNanos <= 0 ? 1 : Math.max(0, 1 - (double) waitedNanos / busyNanos));
  }
}
