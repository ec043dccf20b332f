package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** Configuration of a predictor: the section {@code predictor}. Validated in the constructor, immutable. */
public record PredictorConfig(
    @Setting(required = true, doc = "Directory of the model, as a run saved it (output).")
    String model,

    @Setting(doc = "Directory of snapshots, or of directories of them (one for each day's job), of the same model: the newest one of "
        + "the run that began last is taken over; empty: the model stays as it is.")
    String follow,

    @Setting(value = "1000", unit = "ms", doc = "How often to look for a newer snapshot.")
    long pollMs,

    @Setting(value = "0", doc = "Port to serve HTTP and gRPC on, on the node's host; 0: any free one.")
    int port,

    @Setting(value = "16777216", unit = "bytes", doc = "Largest body of an HTTP request, and message of a gRPC one.")
    int maxRequestBytes,

    @Setting(value = "256", doc = "Most examples of several requests that are computed as one batch; 1: each request alone.")
    int maxBatch,

    @Setting(value = "0", unit = "ms", doc = "How long a request waits for others while the model is idle, unless max_batch examples "
        + "wait; 0: requests are computed together only if they arrive during a computation.")
    long maxDelayMs,

    @Setting(value = "65536", doc = "Most examples that wait for the model; further requests are refused.")
    int maxWaiting,

    @Setting(value = "4194304", unit = "pixels", doc = "Most pixels of an image; larger ones are refused before they are decoded.")
    long maxPixels) {

  /** Number of the largest requests whose bytes may be held at a time. */
  private static final int HELD_REQUESTS = 4;

  public PredictorConfig {
    if (model.isBlank()) {
      throw new InvalidInput("predictor.model is missing: name the directory that a run saved its model in (output)");
    }
    if (port < 0 || port > 65_535) {
      throw new InvalidInput("port must lie in 0..65535, got " + port);
    }
    if (pollMs < 1) {
      throw new InvalidInput("poll_ms must be at least 1, got " + pollMs);
    }
    if (maxRequestBytes < 1024) {
      throw new InvalidInput("max_request_bytes must be at least 1024, got " + maxRequestBytes);
    }
    if (maxPixels < 1) {
      throw new InvalidInput("max_pixels must be at least 1, got " + maxPixels);
    }
    new BatchingLimits(maxBatch, maxDelayMs, maxWaiting, 1); // checks them
  }

  /** Creates a configuration whose other keys have their defaults. */
  public static PredictorConfig of(String model, String follow, long pollMs, int maxRequestBytes) {
    BatchingLimits batching = BatchingLimits.DEFAULTS;
    return new PredictorConfig(model, follow, pollMs, 0, maxRequestBytes, batching.maxBatch(), batching.maxDelayMillis(),
        batching.maxWaiting(), 1 << 22);
  }

  /** Returns the most bytes of requests that have arrived and are not answered. */
  long heldBytes() {
    return HELD_REQUESTS * (long) maxRequestBytes;
  }

  /** Returns the limits within which requests wait. */
  BatchingLimits batching() {
    return new BatchingLimits(maxBatch, maxDelayMs, maxWaiting, heldBytes());
  }
}
