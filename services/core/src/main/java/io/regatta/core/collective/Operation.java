package io.regatta.core.collective;

import java.util.Locale;

/** What the ranks of a group do together. */
public enum Operation {
  /** Every rank ends with the reduction of all ranks' elements. */
  ALL_REDUCE,
  /** Every rank ends with the root's elements. */
  BROADCAST,
  /** The root ends with the reduction; the others' elements are used up. */
  REDUCE,
  /** Every rank ends with each rank's own part, see {@link Parts}. */
  ALL_GATHER,
  /** Each rank ends with its own part of the reduction, see {@link Parts}; its other elements are used up. */
  REDUCE_SCATTER,
  /** No rank goes on before all have come. */
  BARRIER;

  /** Whether elements are reduced. */
  public boolean reduces() {
    return this == ALL_REDUCE || this == REDUCE || this == REDUCE_SCATTER;
  }

  /** Whether one rank is the root. */
  public boolean hasRoot() {
    return this == BROADCAST || this == REDUCE;
  }

  /** As it stands in messages and tables, e.g. {@code all-reduce}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
