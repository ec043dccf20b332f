package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** The {@code collective} section of a job: how gradients are exchanged where there are no servers. */
public record CollectiveConfig(
    @Setting(value = "26214400", unit = "bytes", doc = "Gradients are exchanged together, in the order in which backward yields "
        + "them, once they are at least so many bytes.")
    int bucketBytes,

    @Setting(value = "1048576", unit = "bytes", doc = "The gradients that come last, behind which there is no backward left, are "
        + "exchanged in a bucket of their own of at most so many bytes. 0: none.")
    int lastBucketBytes,

    @Setting(value = "10000", unit = "ms", doc = "Within which a trainer that is frozen or cut off is noticed by the others; one "
        + "that dies is noticed at once. At least 3.")
    long failureTimeoutMs) {

  public CollectiveConfig {
    if (bucketBytes < 1 || lastBucketBytes < 0) {
      throw new InvalidInput("collective: bucket_bytes must be at least 1 and last_bucket_bytes at least 0, not " + bucketBytes
          + " and " + lastBucketBytes);
    }
    if (failureTimeoutMs < 3) {
      throw new InvalidInput("collective: failure_timeout_ms must be at least 3, not " + failureTimeoutMs);
    }
  }
}
