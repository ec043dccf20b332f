package io.regatta.aggregator;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.node.settings.StreamConfig;

/** Configuration of an aggregator: the section {@code gradient_aggregator}. Validated in the constructor, immutable. */
public record AggregatorConfig(
    @Setting(value = "0", doc = "Port to serve on, on the node's host; 0: any free one.")
    int port,

    @Setting(value = "1000", unit = "ms", doc = "Pause before the rendezvous is asked again for a group's members "
        + "after a failure.")
    long retryMs,

    @Setting(value = "10000", unit = "ms", doc = "How long to wait for a parameter server's shard map.")
    long lookupMs,

    @Setting(doc = "What the aggregator holds at most.")
    Limits limits,

    @Setting(doc = "Tensor streams.")
    StreamConfig stream) {

  /** Limits of one aggregator. A request beyond a limit fails with {@code Overloaded} and names the limit. */
  public record Limits(
      @Setting(value = "64", doc = "Jobs at a time; of collective jobs as many again.")
      int jobs,

      @Setting(value = "64", doc = "Open rounds of one job towards one shard: how far the fastest trainer may be ahead "
          + "of the slowest, in steps.")
      int openRounds,

      @Setting(value = "1073741824", unit = "bytes", doc = "Gradients held of one job towards one shard, until the "
          + "shard has acknowledged them; of a collective job, those that are being summed: further calls wait.")
      long bytes) {

    public Limits {
      positive("limits.jobs", jobs);
      positive("limits.open_rounds", openRounds);
      positive("limits.bytes", bytes);
    }

    AggregationRounds.Limits core() {
      return new AggregationRounds.Limits(openRounds, bytes, HeapBudget.ANSWERS);
    }
  }

  public AggregatorConfig {
    if (port < 0 || port > 65_535) {
      throw new InvalidInput("port must lie in 0..65535, got " + port);
    }
    positive("retry_ms", retryMs);
    positive("lookup_ms", lookupMs);
  }

  /** Returns the defaults. */
  public static AggregatorConfig defaults() {
    return Settings.defaults(AggregatorConfig.class);
  }

  private static void positive(String key, long value) {
    if (value < 1) {
      throw new InvalidInput(key + " must be at least 1, got " + value);
    }
  }
}
