package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Locale;

/**
 * The extent of a job's parameters that a directory holds. By name only: Paddle's numbers mean different things in
 * different releases (1 is base in 2.1 and delta from 2.2 on).
 */
public enum SnapshotKind {
  /** Everything. */
  FULL,
  /** Everything; later changes are recorded, for deltas. */
  BASE,
  /** Rows that were changed or created, and ids removed, since the last base or delta; and everything dense. */
  DELTA,
  /** Everything, between two batches of a pass or at the end of a day's; the base of later deltas stays the same. */
  BATCH,
  /** Values alone, one file for the dense variables and one per table: for serving. */
  MODEL;

  /** Returns the name in manifests and configuration. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the kind of this name. */
  public static SnapshotKind of(String label) {
    for (SnapshotKind kind : values()) {
      if (kind.label().equals(label)) {
        return kind;
      }
    }
    throw new InvalidInput("'" + label + "' is no kind of snapshot; there are full, base, delta, batch and model");
  }
}
