package io.regatta.rendezvous;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.rendezvous.http.HttpStoreConfig;
import io.soabase.recordbuilder.core.RecordBuilder;

/** Configuration of one rendezvous: the section {@code rendezvous}. Validated in the constructor, immutable. */
@RecordBuilder
public record RendezvousConfig(
    @Setting(value = "0", doc = "Port to serve on, on the node's host; 0: any free one.")
    int port,

    @Setting(value = "10000", unit = "ms", doc = "A member that sends no heartbeat for this long is declared lost.")
    long leaseMs,

    @Setting(value = "500", unit = "ms", doc = "A member of an elastic group that another one cannot reach is asked for a sign of "
        + "life, and declared lost at once if it gives none for this long. Longer than its longest pause for garbage.")
    long answerMs,

    @Setting(value = "100", unit = "ms", doc = "How often leases and timeouts are looked at: each may end this much "
        + "late.")
    long tickMs,

    @Setting(value = "3600000", unit = "ms", doc = "Longest join or wait for keys; one that names no timeout, or a "
        + "longer one, gets this one, but for members of an elastic group that wait for its next generation. Also the longest "
        + "timeout of a gather; one without waits as long as its members live.")
    long maxWaitMs,

    @Setting(value = "8388608", unit = "bytes", doc = "Largest request; must hold a gather's payload and a value.")
    int messageBytes,

    @Setting(value = "86400", unit = "s", doc = "How long the ids of runs that ended with success are remembered (run_id): a trainer "
        + "of such a run that starts late ends with status 0, without training.")
    int endedRunSeconds,

    @Setting(value = "endless", doc = "When this rendezvous ends by itself, with status 0. job: once a job has ended with success and "
        + "nobody is a member of any group, its servers among them. endless: never.")
    Lifetime lifetime,

    @Setting(doc = "Key-value servers that processes of PaddlePaddle meet by; off unless they are given ports.")
    HttpStoreConfig http,

    @Setting(doc = "What the rendezvous holds at most.")
    Limits limits) implements RendezvousConfigBuilder.With {

  /** Room beside a payload or value, for names and numbers of the request. */
  private static final int REQUEST_OVERHEAD_BYTES = 4096;

  /** The time at which a rendezvous ends by itself. */
  public enum Lifetime { JOB, ENDLESS }

  /**
   * Limits of one rendezvous. A request beyond a limit fails with {@code Overloaded} (or with {@code InvalidInput} if
   * waiting cannot help), names the limit, and changes nothing.
   */
  @RecordBuilder
  public record Limits(
      @Setting(value = "256", doc = "Open groups.")
      int groups,

      @Setting(value = "4096", doc = "Ids of runs that ended with success and are remembered (ended_run_seconds); the oldest are "
          + "forgotten first.")
      int endedRuns,

      @Setting(value = "4096", doc = "World size of a group.")
      int members,

      @Setting(value = "512", unit = "characters", doc = "Name of a group, member, key, queue or item.")
      int names,

      @Setting(value = "4096", doc = "Watchers of a group.")
      int watchers,

      @Setting(value = "1024", doc = "Open gathers of a group. As many finished ones are remembered by their keys.")
      int gathers,

      @Setting(value = "4194304", unit = "bytes", doc = "Payload of one member in a gather.")
      int payloadBytes,

      @Setting(value = "67108864", unit = "bytes", doc = "Payloads in all open gathers of a group.")
      long gatherBytes,

      @Setting(value = "65536", doc = "Keys in the store of a group.")
      int keys,

      @Setting(value = "1048576", unit = "bytes", doc = "One value in the store of a group.")
      int valueBytes,

      @Setting(value = "67108864", unit = "bytes", doc = "All values in the store of a group.")
      long storeBytes,

      @Setting(value = "4096", doc = "Callers waiting for keys of a group.")
      int waits,

      @Setting(value = "4096", doc = "Work queues (e.g. the files of an epoch) that a group uses in its life.")
      int queues,

      @Setting(value = "100000", doc = "Items of one work queue.")
      int items) implements RendezvousConfigLimitsBuilder.With {

    public Limits {
      positive("limits.groups", groups);
      positive("limits.ended_runs", endedRuns);
      positive("limits.members", members);
      positive("limits.names", names);
      positive("limits.watchers", watchers);
      positive("limits.gathers", gathers);
      positive("limits.payload_bytes", payloadBytes);
      positive("limits.gather_bytes", gatherBytes);
      positive("limits.keys", keys);
      positive("limits.value_bytes", valueBytes);
      positive("limits.store_bytes", storeBytes);
      positive("limits.waits", waits);
      positive("limits.queues", queues);
      positive("limits.items", items);
    }
  }

  public RendezvousConfig {
    if (port < 0 || port > 65_535) {
      throw new InvalidInput("port must lie in 0..65535, got " + port);
    }
    positive("lease_ms", leaseMs);
    positive("answer_ms", answerMs);
    positive("tick_ms", tickMs);
    positive("max_wait_ms", maxWaitMs);
    positive("message_bytes", messageBytes);
    positive("ended_run_seconds", endedRunSeconds);
    if (tickMs > leaseMs) {
      throw new InvalidInput("tick_ms must be at most lease_ms, a small part of it: got " + tickMs + " and " + leaseMs);
    }
    long needed = (long) Math.max(limits.payloadBytes(), limits.valueBytes()) + REQUEST_OVERHEAD_BYTES;
    if (messageBytes < needed) {
      throw new InvalidInput("message_bytes must be at least " + needed + " to hold limits.payload_bytes "
          + limits.payloadBytes() + " and limits.value_bytes " + limits.valueBytes() + ", got " + messageBytes);
    }
  }

  /** Returns the defaults. */
  public static RendezvousConfig defaults() {
    return Settings.defaults(RendezvousConfig.class);
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new InvalidInput(key + " must be at least 1, got " + value);
    }
  }
}
