package io.regatta.trainer.heter;

import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.training.heter.run.CutMeasurement;
import io.regatta.training.heter.run.HeterAdvice;
import java.util.Locale;
import java.util.Optional;

/**
 * The share of a rank's steps that its batches spend on the network to and from heter workers. Owned by the loop of
 * {@link HeterWorkers}. After {@value #BATCHES} batches it gives its advice, once.
 */
final class TransferShare {

  static final int BATCHES = 50;
  private static final double MUCH = 0.5;
  private static final double NANOS = 1e9;

  private long batches;
  private long examples;
  private long beganNanos;
  private long networkNanos;
  private long answeredNanos;
  private long computedNanos;
  private long bytesOut;
  private long bytesBack;

  /**
   * Counts a batch.
   *
   * @param replicas of the rank, each with a batch under way
   * @param sentNanos time at which it was sent first
   * @param nowNanos time at which its result is here
   * @param out bytes of its tensors
   * @param back bytes of its result's tensors
   * @return a sentence for the user, at most once: more than half of the steps is the network
   */
  Optional<String> answered(int replicas, long sentNanos, long nowNanos, int ofExamples, long out,
      ComputedBatch result, long back) {
    if (batches > BATCHES) {
      return Optional.empty();
    }
    if (batches++ == 0) { // the first one waits for compilations
      beganNanos = nowNanos;
      return Optional.empty();
    }
    long answer = nowNanos - sentNanos;
    answeredNanos += answer;
    computedNanos += result.head().getComputedNs();
    networkNanos += Math.max(0, answer - result.head().getWaitedNs() - result.head().getComputedNs());
    examples += ofExamples;
    bytesOut += out;
    bytesBack += back;
    return batches <= BATCHES ? Optional.empty() : advice(Math.max(1, replicas), nowNanos);
  }

  private Optional<String> advice(int replicas, long nowNanos) {
    double counted = batches - 1.0;
    double step = (nowNanos - beganNanos) * replicas / counted; // of one replica, ns
    double share = networkNanos / counted / step;
    if (share <= MUCH || networkNanos == 0) {
      return Optional.empty();
    }
    double own = Math.max(1, step - answeredNanos / counted);
    CutMeasurement.CutCosts parts = new CutMeasurement.CutCosts((int) (examples / (batches - 1)), Double.NaN, own / NANOS,
        computedNanos / counted / NANOS, bytesOut / counted, bytesBack / counted);
    double bandwidth = (bytesOut + bytesBack) / (networkNanos / NANOS);
    return Optional.of(String.format(Locale.ROOT, "%.0f %% of its steps is the network to heter workers: ", 100 * share)
        + new HeterAdvice(parts, replicas, 0).sentence(bandwidth));
  }
}
