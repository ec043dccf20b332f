package io.regatta.data;

/** A text format of one example per line. Implementations are immutable; any thread may use them. */
public interface LineFormat {

  /** Returns a short name for threads and messages. */
  String name();

  Layout layout();

  /**
   * Parses a line into row {@code row} of {@code into}, and sets every position of that row.
   *
   * @param badLines gets the report of a line that does not match the format, by {@link BadLines#report}
   * @return false if the line is skipped: it is bad, or it is no example (a comment)
   */
  boolean parse(Line line, SlotBatch into, int row, BadLines badLines);
}
