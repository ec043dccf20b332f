package io.regatta.core.collective;

import io.regatta.core.collective.schedule.Parts;
import java.util.Locale;

/** The operations that the ranks of a group do together. */
public enum Operation {
  /** Every rank ends with the reduction of all ranks' elements. */
  ALL_REDUCE,
  /** Every rank ends with the root's elements. */
  BROADCAST,
  /** The root ends with the reduction; the others' elements are overwritten. */
  REDUCE,
  /** Every rank ends with each rank's own part, see {@link Parts}. */
  ALL_GATHER,
  /** Each rank ends with its own part of the reduction, see {@link Parts}; its other elements are overwritten. */
  REDUCE_SCATTER,
  /** No rank continues before all have entered. */
  BARRIER;

  /** Returns true if elements are reduced. */
  public boolean reduces() {
    return this == ALL_REDUCE || this == REDUCE || this == REDUCE_SCATTER;
  }

  /** Returns true if one rank is the root. */
  public boolean hasRoot() {
    return this == BROADCAST || this == REDUCE;
  }

  /** Returns its name in messages and tables, for example {@code all-reduce}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
