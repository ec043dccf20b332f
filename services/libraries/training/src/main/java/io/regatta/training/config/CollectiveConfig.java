package io.regatta.training.config;

import io.regatta.collective.CollectiveOptions;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import java.util.ArrayList;
import java.util.List;

/** The {@code collective} section of a job: the exchange of gradients where there are no servers. */
public record CollectiveConfig(
    @Setting(value = "26214400", unit = "bytes", doc = "Gradients are exchanged together, in the order in which backward yields "
        + "them, once they are at least so many bytes.")
    int bucketBytes,

    @Setting(value = "1048576", unit = "bytes", doc = "The gradients that come last, behind which there is no backward left, are "
        + "exchanged in a bucket of their own of at most so many bytes. 0: none.")
    int lastBucketBytes,

    @Setting(doc = "A file with rows of a table of algorithms, as load-tests/run.sh refit prints them, the same at all "
        + "trainers; where none of them fits, those count that are shipped. Relative to the working directory; empty: none.")
    String algorithms,

    @Setting(value = "10000", unit = "ms", doc = "Within which a trainer that is frozen or cut off is noticed by the others; one "
        + "that dies is noticed at once. At least 3.")
    long failureTimeoutMs,

    @Setting(value = "" + CollectiveOptions.BUSY_POLL_MICROS, unit = "us", doc = "How long a trainer that waits for the next message of "
        + "a call of at most 4 MB looks for it again and again before it sleeps, if its host has a core for each of its trainers. 0: it "
        + "sleeps at once.")
    int busyPollUs,

    @Setting(value = "0", doc = "Elastic training: the fewest trainers that go on when others are lost or leave; trainers is the most. "
        + "0, or as many as trainers: a loss ends the job; over a store the others wait for another trainer in its place.")
    int minTrainers,

    @Setting(value = "service", doc = "Where the trainers meet: service, the rendezvous; or a store, in one of the forms that docs/launching.md lists. "
        + "Over a store the job is elastic, and a trainer that dies is lost when failure_timeout_ms is over.")
    String store,

    @Setting(value = "auto", doc = "Over a store: whether the next generation of trainers needs a majority of the last one (of two halves "
        + "the one with the lowest rank), so that of a split cluster one part at most continues, and the other ends. none: each part continues "
        + "that has min_trainers, also when most trainers die at once. auto: majority where the store can be split, which is hazelcast.")
    Quorum quorum,

    @Setting(value = "false", doc = "Gradients travel as float16: half the bytes. One of the five ways to send fewer bytes, of which "
        + "a job has at most one.")
    boolean fp16Allreduce,

    @Setting(value = "false", doc = "Gradients travel as bfloat16: float32's range, fewer digits than float16.")
    boolean bf16Allreduce,

    @Setting(value = "false", doc = "Deep gradient compression: only the largest elements of each gradient are sent, the others "
        + "later. For sgd and momentum.")
    boolean dgc,

    @Setting(doc = "dgc: how many are sent, from which step on.")
    DgcConfigs dgcConfigs,

    @Setting(value = "false", doc = "LocalSGD: trainers make steps alone, and average their parameters every so many. For sgd and "
        + "momentum.")
    boolean localsgd,

    @Setting(doc = "localsgd: how many.")
    LocalsgdConfigs localsgdConfigs,

    @Setting(value = "false", doc = "LocalSGD with as many steps as learning rate and loss allow.")
    boolean adaptiveLocalsgd,

    @Setting(doc = "adaptive_localsgd: how many at first.")
    AdaptiveLocalsgdConfigs adaptiveLocalsgdConfigs) {

  /** The share of the previous generation that the next generation of trainers needs, if they meet over a store. */
  public enum Quorum { AUTO, MAJORITY, NONE }

  public CollectiveConfig {
    if (bucketBytes < 1 || lastBucketBytes < 0) {
      throw new InvalidInput("collective: bucket_bytes must be at least 1 and last_bucket_bytes at least 0, not " + bucketBytes
          + " and " + lastBucketBytes);
    }
    if (failureTimeoutMs < 3) {
      throw new InvalidInput("collective: failure_timeout_ms must be at least 3, not " + failureTimeoutMs);
    }
    if (busyPollUs < 0 || busyPollUs > CollectiveOptions.BUSY_POLL_MICROS_MAX) {
      throw new InvalidInput("collective: busy_poll_us must be 0 to " + CollectiveOptions.BUSY_POLL_MICROS_MAX + ", not " + busyPollUs);
    }
    if (minTrainers < 0) {
      throw new InvalidInput("collective: min_trainers must be at least 0, not " + minTrainers);
    }
    MeetingStore.parse(store);
    List<String> chosen = new ArrayList<>();
    add(chosen, fp16Allreduce, "fp16_allreduce");
    add(chosen, bf16Allreduce, "bf16_allreduce");
    add(chosen, dgc, "dgc");
    add(chosen, localsgd, "localsgd");
    add(chosen, adaptiveLocalsgd, "adaptive_localsgd");
 
    if (chosen.size() > 1) {
      throw new InvalidInput("collective: at most one of the ways to send fewer bytes can be chosen, not "
          + String.join(" and ", chosen) + "; remove all but one");
    }
  }

  private static void add(List<String> chosen, boolean is, String key) {
    if (is) {
      chosen.add(key);
    }
  }

  /** Returns the store through which the trainers find each other. */
  public MeetingStore meeting() {
    return MeetingStore.parse(store);
  }

  /** Returns what the ranks exchange, and when. */
  public Communication communication() {
    return dgc ? dgcConfigs : localsgd ? localsgdConfigs : adaptiveLocalsgd ? adaptiveLocalsgdConfigs
        : fp16Allreduce ? new Communication.AllReduce(WireType.FLOAT16)
        : bf16Allreduce ? new Communication.AllReduce(WireType.BFLOAT16) : Communication.PLAIN;
  }
}
