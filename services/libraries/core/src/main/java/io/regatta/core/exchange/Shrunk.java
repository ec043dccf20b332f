package io.regatta.core.exchange;

/**
 * The result of a shrink.
 *
 * @param byScore rows removed because of their score
 * @param unseen rows removed because of the days in which no training pull has requested them
 * @param expired rows removed after their time to live
 * @param left rows left in all sparse tables
 */
public record Shrunk(long byScore, long unseen, long expired, long left) {

  /** The result for no rows. */
  public static final Shrunk NONE = new Shrunk(0, 0, 0, 0);

  /** Returns the sum of two results, of different shards or tables. */
  public Shrunk plus(Shrunk o) {
    return new Shrunk(byScore + o.byScore, unseen + o.unseen, expired + o.expired, left + o.left);
  }

  /** Returns the number of rows removed. */
  public long removed() {
    return byScore + unseen + expired;
  }
}
