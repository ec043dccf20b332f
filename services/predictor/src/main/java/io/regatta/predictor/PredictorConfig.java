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
    int maxRequestBytes) {

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
  }
}
