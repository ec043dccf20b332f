package io.regatta.training.result;

/**
 * The shards' statistics of a run's pushes and pulls.
 *
 * @param stalenessMax highest staleness that a shard reported for a push
 * @param clockLeadMax most clocks that a trainer was ahead of the slowest one at a pull; at most the bound in SSP
 * @param skippedPushes pushes that the NaN policy dropped
 */
public record ExchangeFigures(long stalenessMax, long clockLeadMax, long skippedPushes) {

  /** Statistics of a trainer that has exchanged nothing. */
  static final ExchangeFigures NONE = new ExchangeFigures(0, 0, 0);

  /** Returns the statistics of this trainer and another together. */
  public ExchangeFigures and(ExchangeFigures other) {
    return new ExchangeFigures(Math.max(stalenessMax, other.stalenessMax), Math.max(clockLeadMax, other.clockLeadMax),
        skippedPushes + other.skippedPushes);
  }
}
