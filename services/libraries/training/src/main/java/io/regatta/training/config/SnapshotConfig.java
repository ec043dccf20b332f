package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/** The {@code snapshots} section of a job: when the servers write all state of the job to disk. */
public record SnapshotConfig(
    @Setting(doc = "Directory for snapshots, which all servers and trainers see under this path; empty: the job's output.")
    String dir,

    @Setting(value = "0", unit = "steps", doc = "A snapshot step-NNNNNNNNN every so many steps of the first trainer; in "
        + "sync mode between two steps, in the others with the same pushes of each trainer at all shards, unless one stalls. 0: none.")
    long everySteps,

    @Setting(value = "false", doc = "A snapshot pass-NNNNN behind every pass over the training data, when all trainers have "
        + "handed in what they trained.")
    boolean everyPass,

    @Setting(value = "0", unit = "steps", doc = "A snapshot batch-NNNNNNNNN, which is whole, every so many steps, beside the others: "
        + "what deltas are relative to stays as it is. 0: none.")
    long batchEverySteps,

    @Setting(value = "2", unit = "snapshots", doc = "The last ones of each kind are kept (deltas count with bases), with those that "
        + "deltas are relative to; older ones are removed.")
    int keep,

    @Setting(value = "0", unit = "snapshots", doc = "Deltas, which hold only rows that have changed, between two whole "
        + "snapshots of every_steps and every_pass, of which there must be one; 0: all are whole.")
    int deltas) {

  public SnapshotConfig {
    if (everySteps < 0 || batchEverySteps < 0 || deltas < 0 || keep < 1) {
      throw new InvalidInput("snapshots: every_steps, batch_every_steps and deltas must be at least 0, keep at least 1, not "
          + everySteps + ", " + batchEverySteps + ", " + deltas + " and " + keep);
    }
    if (deltas > 0 && everySteps == 0 && !everyPass) {
      throw new InvalidInput("snapshots: with deltas " + deltas + ", but neither every_steps nor every_pass, no base or "
          + "delta would ever be taken; give one of them, or take deltas out (a program that takes snapshots itself says of "
          + "which kind each is)");
    }
    if (deltas > 0 && batchEverySteps > 0 && everySteps % batchEverySteps == 0 && !everyPass) {
      throw new InvalidInput("snapshots: with deltas " + deltas + ", no base or delta would ever be taken, for after every step at "
          + "which one is due (every_steps " + everySteps + ") a batch is (batch_every_steps " + batchEverySteps
          + "), which takes its place; give an every_steps that batch_every_steps does not divide, or every_pass, or deltas 0");
    }
  }

  /** Returns true if any snapshot is taken without a call of the program. */
  public boolean isOn() {
    return everySteps > 0 || everyPass || batchEverySteps > 0;
  }

  /** Returns true if a snapshot is taken after this step. */
  public boolean isDue(long steps) {
    return everySteps > 0 && steps % everySteps == 0 || isBatchDue(steps);
  }

  /**
   * Returns the last step after {@code from} and up to {@code to} after which a snapshot is due; 0 if there is none.
   */
  public long lastDue(long from, long to) {
    long last = Math.max(everySteps > 0 ? to - to % everySteps : 0, batchEverySteps > 0 ? to - to % batchEverySteps : 0);
    return last > from ? last : 0;
  }

  /**
   * Returns true if the snapshot after this step is of kind batch. It then takes the place of the one of
   * {@code every_steps}.
   */
  public boolean isBatchDue(long steps) {
    return batchEverySteps > 0 && steps % batchEverySteps == 0;
  }
}
