package io.regatta.training.trace;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** The {@code trace} section of a job: a timeline of some steps. */
public record TraceConfig(
    @Setting(doc = "File for a timeline of some steps in Chrome's trace format, one of each trainer: with several "
        + "trainers the rank is put before the extension. Empty: none.")
    String file,

    @Setting(value = "20", unit = "steps", doc = "First step of the timeline: what comes before warms up.")
    long fromStep,

    @Setting(value = "20", unit = "steps", doc = "Steps in the timeline; 1 to 1000.")
    int steps) {

  private static final int STEPS_MAX = 1000;

  public TraceConfig {
    if (fromStep < 0 || steps < 1 || steps > STEPS_MAX) {
      throw new InvalidInput("trace: from_step must be at least 0 and steps 1 to " + STEPS_MAX + ", not " + fromStep
          + " and " + steps);
    }
  }
}
