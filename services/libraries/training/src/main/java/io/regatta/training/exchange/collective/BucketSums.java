package io.regatta.training.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.dense.DenseMemory;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.TrainerSession;
import java.nio.FloatBuffer;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * The running exchanges of one step's buckets, in the order in which they were sent, each by a {@link GradientSum}. It
 * measures how much of their time the model thread has not waited for them but computed backward. Belongs to a model
 * thread.
 */
final class BucketSums {

  /** Largest bucket, in bytes, that carries the header: one call less. */
  private static final int CARRYING_BYTES = 1 << 20;

  /** A running exchange; {@code done} holds the time when it completed, on the completing thread. */
  private record UnderWay(String what, int from, int to, long began, CompletableFuture<Done> done) {}

  /** The time of completion, and true if the sum is known to be finite. */
  private record Done(long at, boolean finite) {}

  private final TrainerSession session;
  private final CountedRanks peers;
  private final GradientSum sum;
  /** Number of the gradients' floats; the header follows them. */
  private final int numel;
  private final StepTimes times;
  private final ArrayDeque<UnderWay> underWay = new ArrayDeque<>();
  private TensorMemory memory;
  private FloatBuffer floats;
  private int inStep;
  /** True if all sums of the step so far are known to be finite. */
  private boolean finite;
  private long exchanges;
  private double bytes;
  private double bytesBefore;
  private long steps;
  /** Time since the step's first bucket was sent; and total time of all steps with a running exchange. */
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
   * Begins a step with the memory of its gradients.
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

  /** Returns memory for a step's gradients and the header, zeroed. Blocks. */
  TensorMemory allocate(int bytes) {
    return sum.memory(bytes);
  }

  /** Returns the memory of the last step; null before the first. No exchange uses it after a step. */
  TensorMemory memory() {
    return memory;
  }

  FloatBuffer floats() {
    return floats;
  }

  /** Begins to sum the floats {@code [from .. to)} over the ranks; those after the gradients unchanged, in float32. */
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
   * Returns true if the header is sent before the bucket that begins here and ends with the gradients, in a call of its
   * own. A rank that takes part without gradients then learns from it whether the others make a step, before the bucket
   * is sent.
   */
  boolean sendsHeaderApart(int from) {
    return !sum.carriesHeader() || (long) (numel - from) * Float.BYTES > CARRYING_BYTES;
  }

  /**
   * Sends the header alone, up to {@code to}. If headers are sent alone, see {@link #sendsHeaderApart}, the bucket
   * follows without it.
   */
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

  /** Waits for the exchange that was sent first; then its floats are the sum. */
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

  /**
   * Returns the step's sum divided by the ranks' weights. The division is deferred to reading if the sum is certain to
   * stay unchanged.
   */
  DenseMemory mean(DenseMemory sum, double weight) {
    if (weight >= 1) {
      return (finite ? sum.knownFinite() : sum).times((float) (1 / weight));
    }
    Scaling.scale(floats, 0, numel, weight == 0 ? 0 : 1 / weight);
    return sum;
  }

  /** Waits until no exchange uses the memory any more; for a step that has failed. */
  void drain() {
    while (!underWay.isEmpty()) {
      UnderWay next = underWay.remove();
      session.await("end of the all-reduce of " + next.what(), next.done().handle((v, e) -> null));
    }
  }

  /** Notes that all buckets of a step of this rank are complete. */
  void stepped() {
    sum.stepped();
    steps++;
    exchanges += inStep;
    bytes += peers.bytes() - bytesBefore;
    busyNanos += stepEnded - stepBegan;
  }

  /**
   * Returns {@code exchanges_per_step}; {@code exchange_bytes_per_step} that this rank sends ({@link CountedRanks});
   * {@code exchange_ms}, from sending a step's first bucket to completing its last; and {@code exchange_hidden}, the
   * share of that time in which the model thread did not wait.
   */
  Map<String, Double> figures() {
    return steps == 0 ? Map.of() : Map.of("exchanges_per_step", (double) exchanges / steps,
        "exchange_bytes_per_step", bytes / steps, "exchange_ms", busyNanos / 1e6 / steps,
        "exchange_hidden", busyNanos <= 0 ? 1 : Math.max(0, 1 - (double) waitedNanos / busyNanos));
  }
}
