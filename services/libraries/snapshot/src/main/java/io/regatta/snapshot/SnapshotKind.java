package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Locale;

/**
 * What of a job's parameters a directory holds. By name only: Paddle's numbers mean different things in different releases
 * (1 is base in 2.1 and delta from 2.2 on).
 */
public enum SnapshotKind {
  /** Everything. */
  FULL,
  /** Everything; what changes from now on is noted, for deltas. */
  BASE,
  /** Rows that were changed or born, and ids removed, since the last base or delta; and everything dense. */
  DELTA,
  /** Everything, between two batches of a pass or at the end of a day's; what deltas are relative to stays as it is. */
  BATCH,
  /** Values alone, one file for the dense variables and one per table: for serving. */
  MODEL;

  /** The name in manifests and configuration. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The kind of this name. */
  public static SnapshotKind of(String label) {
    for (SnapshotKind kind : values()) {
      if (kind.label().equals(label)) {
        return kind;
      }
    }
    throw new InvalidInput("'" + label + "' is no kind of snapshot; there are full, base, delta, batch and model");
  }
}
