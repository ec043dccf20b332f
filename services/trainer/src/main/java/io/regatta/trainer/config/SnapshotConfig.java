package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** The {@code snapshots} section of a job: when the servers write everything that the job has there to disk. */
public record SnapshotConfig(
    @Setting(doc = "Directory for snapshots, which all servers and trainers see under this path; empty: the job's output.")
    String dir,

    @Setting(value = "0", unit = "steps", doc = "A snapshot step-NNNNNNNNN every so many steps of the first trainer; in "
        + "sync mode of one moment, in the others fuzzy: pushes go on while it is taken. 0: none.")
    long everySteps,

    @Setting(value = "false", doc = "A snapshot pass-NNNNN behind every pass over the training data, when all trainers have "
        + "handed in what they trained.")
    boolean everyPass,

    @Setting(value = "2", unit = "snapshots", doc = "The last ones are kept, with those that deltas are relative to; older "
        + "ones are removed.")
    int keep,

    @Setting(value = "0", unit = "snapshots", doc = "Deltas, which hold only rows that have changed, between two whole "
        + "snapshots; 0: all are whole.")
    int deltas) {

  public SnapshotConfig {
    if (everySteps < 0 || deltas < 0 || keep < 1) {
      throw new InvalidInput("snapshots: every_steps and deltas must be at least 0, keep at least 1, not " + everySteps + ", "
          + deltas + " and " + keep);
    }
  }

  /** Whether any is taken. */
  public boolean isOn() {
    return everySteps > 0 || everyPass;
  }
}
