package io.regatta.core.table;

/**
 * What has happened to the rows of a table on one shard since its job began.
 *
 * @param births rows born, again and restored ones included
 * @param notAdmittedPulls rows that training pulls have named and that were not admitted: answered with zeros
 * @param droppedGradients gradients dropped because their row was not admitted
 * @param shrunkByScore rows removed by a shrink for their score
 * @param shrunkUnseen rows removed by a shrink for the days they had not been seen
 * @param expired rows removed by a shrink behind their time to live
 * @param evicted rows removed to make room for others
 * @param admitted rows that a training pull has admitted, in a table where that takes more than being born
 * @param shrinks shrinks that have gone through the table
 * @param aged rows that they have looked at: whose counts decayed, and that grew a day older if one had ended
 * @param restored rows that were put in their places from a snapshot
 * @param refused pulls and pushes with rows of this table that were refused for want of room
 */
public record TableCounts(long births, long notAdmittedPulls, long droppedGradients, long shrunkByScore,
    long shrunkUnseen, long expired, long evicted, long admitted, long shrinks, long aged, long restored, long refused) {

  /** Counts of a table to whose rows nothing has happened. */
  public static final TableCounts NONE = new TableCounts(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);

  /** Rows that have gone. */
  public long removed() {
    return shrunkByScore + shrunkUnseen + expired + evicted;
  }
}
