package io.regatta.core.table;

/**
 * The counts of what has happened to the rows of a table on one shard since its job began.
 *
 * @param births rows created, including those created again and restored ones
 * @param notAdmittedPulls rows that training pulls requested and that were not admitted: answered with zeros
 * @param droppedGradients gradients dropped because their row was not admitted
 * @param shrunkByScore rows removed by a shrink because of their score
 * @param shrunkUnseen rows removed by a shrink because of the days they had not been seen
 * @param expired rows removed by a shrink after their time to live
 * @param evicted rows removed to make room for others
 * @param admitted rows that a training pull has admitted, in a table where creation alone does not
 * @param shrinks shrinks that have gone through the table
 * @param aged rows that they have examined: whose counts decayed, and that grew a day older at an end of day
 * @param restored rows restored from a saved state
 * @param refused pulls and pushes with rows of this table that were refused because there was no room
 */
public record TableCounts(long births, long notAdmittedPulls, long droppedGradients, long shrunkByScore,
    long shrunkUnseen, long expired, long evicted, long admitted, long shrinks, long aged, long restored, long refused) {

  /** Counts of a table to whose rows nothing has happened. */
  public static final TableCounts NONE = new TableCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Returns the number of rows removed. */
  public long removed() {
    return shrunkByScore + shrunkUnseen + expired + evicted;
  }
}
