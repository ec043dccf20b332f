package io.regatta.core.collective;

import java.util.Locale;

/**
 * How far apart the ranks of a group are, those two that are farthest: what a message costs, and so which algorithm is best. By which
 * way messages really go is each stream's to decide ({@code stream.transport}); these are the ways by default.
 */
public enum Reach {
  /** All in one process: messages are handed over. */
  PROCESS,
  /** All on one machine: long messages go by shared memory. */
  MACHINE,
  /** On several machines: TCP. */
  NETWORK;

  /** As it stands in tables and messages, e.g. {@code machine}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
