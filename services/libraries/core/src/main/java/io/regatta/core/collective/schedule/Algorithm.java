package io.regatta.core.collective.schedule;

import java.util.Locale;

/** The algorithms of collective operations; the classes named here implement them. */
public enum Algorithm {
  /** {@link Ring}: all-reduce, reduce-scatter, all-gather; fewest bytes, many steps. */
  RING,
  /** {@link Halving}: all-reduce by recursive halving and doubling; as few bytes, few steps, no pipeline. */
  HALVING_DOUBLING,
  /**
   * {@link RecursiveDoubling}: all-reduce by recursive doubling of the whole vector; fewest steps. Two ranks exchange
   * once.
   */
  EXCHANGE,
  /** {@link Hierarchy}: all-reduce within each host first, then between the hosts. */
  HIERARCHICAL,
  /** {@link Tree}: broadcast and reduce along a binomial tree. */
  TREE,
  /** {@link Tree}: broadcast and reduce along a chain, pipelined. */
  CHAIN,
  /** {@link Dissemination}: the barrier. */
  DISSEMINATION,
  /** {@link Hierarchy} of one host: all-reduce by rank 0, to which all others send, and which answers. */
  CENTRAL,
  /** {@link Aggregated}: all-reduce by processes beside the ranks. */
  AGGREGATED;

  /** Returns its name in tables and messages, for example {@code halving-doubling}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
