package io.regatta.core.metrics;

import java.util.ArrayDeque;

/**
 * The metrics of the last batches, as Paddle's {@code auc} op keeps them for its batch AUC ({@code slide_steps}). Not
 * thread-safe; one owner.
 */
public final class LastBatches {

  private final ArrayDeque<BinaryMetrics> batches = new ArrayDeque<>();
  private final int most;
  private final int buckets;

  /**
   * Creates metrics of no batches.
   *
   * @param most number of batches that count
   * @param buckets of the metrics
   */
  public LastBatches(int most, int buckets) {
    this.most = most;
    this.buckets = buckets;
  }

  /** Returns empty metrics for a new batch, to which the caller adds predictions; the oldest batch is dropped. */
  public BinaryMetrics next() {
    BinaryMetrics batch = batches.size() < most ? new BinaryMetrics(buckets) : batches.poll();
    batch.reset();
    batches.add(batch);
    return batch;
  }

  /** Returns the metrics of these batches together. */
  public BinaryMetrics together() {
    BinaryMetrics all = new BinaryMetrics(buckets);
    batches.forEach(all::merge);
    return all;
  }
}
