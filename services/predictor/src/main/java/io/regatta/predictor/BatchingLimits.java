package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The limits within which requests wait for the model and are computed together. Immutable.
 *
 * @param maxBatch most examples of several requests that are computed as one batch; a request of more is a batch of its
 *     own; 1: each request alone
 * @param maxDelayMillis how long a request waits for others while the model is idle, unless {@code maxBatch} examples
 *     wait; 0: it does not, so only requests that arrive during a computation are computed together
 * @param maxWaiting most examples that wait; more are refused. A single request may have more if no other waits
 * @param maxWaitingBytes most bytes of requests that wait, likewise
 */
public record BatchingLimits(int maxBatch, long maxDelayMillis, int maxWaiting, long maxWaitingBytes) {

  /** The limits of a predictor that is given none. */
  public static final BatchingLimits DEFAULTS = new BatchingLimits(256, 0, 65_536, 64L << 20);

  public BatchingLimits {
    if (maxBatch < 1) {
      throw new InvalidInput("max_batch must be at least 1, got " + maxBatch);
    }
    if (maxDelayMillis < 0 || maxDelayMillis > 60_000) {
      throw new InvalidInput("max_delay_ms must lie in 0..60000, got " + maxDelayMillis);
    }
    if (maxWaiting < 1) {
      throw new InvalidInput("max_waiting must be at least 1, got " + maxWaiting);
    }
    if (maxWaitingBytes < 1) {
      throw new InvalidInput("the bytes of waiting requests must be at least 1, got " + maxWaitingBytes);
    }
  }
}
