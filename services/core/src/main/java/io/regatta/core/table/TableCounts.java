package io.regatta.core.table;

/**
 * What has happened to the rows of a table on one shard since its job began.
 *
 * @param births rows born, again included
 * @param notAdmittedPulls rows that training pulls have named and that were not admitted: answered with zeros
 * @param droppedGradients gradients dropped because their row was not admitted
 * @param shrunkByScore rows removed by a shrink for their score
 * @param shrunkUnseen rows removed by a shrink for the days they had not been seen
 * @param expired rows removed by a shrink behind their time to live
 * @param evicted rows removed to make room for others
 */
public record TableCounts(long births, long notAdmittedPulls, long droppedGradients, long shrunkByScore,
    long shrunkUnseen, long expired, long evicted) {

  /** Rows that have gone. */
  public long removed() {
    return shrunkByScore + shrunkUnseen + expired + evicted;
  }
}
