package io.regatta.data;

/** Text of one example per line: what a line means. Implementations are immutable; any thread. */
public interface LineFormat {

  /** Short name for threads and messages. */
  String name();

  Layout layout();

  /**
   * Parses a line into row {@code row} of {@code into}, of which it sets every place.
   *
   * @param badLines is told, by {@link BadLines#report}, of a line that does not fit
   * @return false if the line is left out: it is bad, or no example at all (a comment)
   */
  boolean parse(Line line, SlotBatch into, int row, BadLines badLines);
}
