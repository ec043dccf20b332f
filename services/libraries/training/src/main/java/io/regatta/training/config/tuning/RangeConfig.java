package io.regatta.training.config.tuning;

import io.regatta.core.search.ParameterRange;
import io.regatta.node.settings.Setting;
import java.util.List;

/** The range of a parameter in the section {@code tune.parameters} of a job, by its key. Immutable. */
public record RangeConfig(
    @Setting(value = "0", doc = "Least value.")
    double from,

    @Setting(value = "0", doc = "Greatest value.")
    double to,

    @Setting(value = "linear", doc = "linear: all values are equally likely. log: all orders of magnitude are.")
    Scale scale,

    @Setting(value = "false", doc = "Only whole numbers.")
    boolean whole,

    @Setting(doc = "One of these texts, in place of from and to; numbers and lists (as 128,64) are written as in --set.")
    List<String> values) {

  /** How values are spread over the range. */
  public enum Scale { LINEAR, LOG }

  public RangeConfig {
    values = List.copyOf(values);
    new ParameterRange(from, to, scale == Scale.LOG, whole, List.copyOf(values)); // checks them
  }

  /** Returns the range. */
  public ParameterRange range() {
    return new ParameterRange(from, to, scale == Scale.LOG, whole, List.copyOf(values));
  }
}
