package io.regatta.core.collective.schedule;

import java.util.Locale;

/**
 * The distance of the two ranks of a group that are farthest apart: it determines the cost of a message, and so the
 * best algorithm. Each stream decides by which way messages really go ({@code stream.transport}); these are the default
 * ways.
 */
public enum Reach {
  /** All in one process: messages are passed in memory. */
  PROCESS,
  /** All on one machine: long messages go through shared memory. */
  MACHINE,
  /** On several machines: TCP. */
  NETWORK;

  /** Returns its name in tables and messages, for example {@code machine}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
