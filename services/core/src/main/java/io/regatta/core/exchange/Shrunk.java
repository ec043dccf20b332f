package io.regatta.core.exchange;

/**
 * What a shrink has come to.
 *
 * @param byScore rows removed for their score
 * @param unseen rows removed for the days that no training pull has named them
 * @param expired rows removed behind their time to live
 * @param left rows left in all sparse tables
 */
public record Shrunk(long byScore, long unseen, long expired, long left) {

  /** Of nothing. */
  public static final Shrunk NONE = new Shrunk(0, 0, 0, 0);

  /** Both together, of different shards. */
  public Shrunk plus(Shrunk o) {
    return new Shrunk(byScore + o.byScore, unseen + o.unseen, expired + o.expired, left + o.left);
  }

  /** Rows removed. */
  public long removed() {
    return byScore + unseen + expired;
  }
}
