package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * The rules by which rows of a sparse table are admitted and removed. Immutable. With {@link #NONE} a row is created by
 * its first pull, and stays.
 *
 * <p>The idea and most names are those of Paddle's CTR accessor and entries, with one difference. Paddle admits a row
 * if a uniform number is at least {@code probability}, which is thus the probability of being rejected. Here it is the
 * probability of being admitted.
 *
 * @param statistics whether each row has a show and a click count, which the trainers push beside its gradient
 * @param decay factor of show and click at each shrink, above 0, at most 1
 * @param nonclickCoefficient of a row's score: (show - click) · nonclickCoefficient + click · clickCoefficient
 * @param clickCoefficient of a row's score
 * @param admitCount training pulls until a row is initialised; before, it reads as zeros, and its gradients are
 *     dropped; 0: the first one. In sync mode all trainers' pulls for a round count as one
 * @param admitProbability probability of being admitted at a training pull, above 0, at most 1
 * @param shrinkScore a shrink removes rows of a lower score; 0: none
 * @param shrinkUnseenDays a shrink removes rows that no training pull has requested for more ends of day; 0: none
 * @param ttlSeconds a shrink removes rows that no training pull has requested for longer, in time of training; 0: none
 */
@RecordBuilder
public record TableLife(boolean statistics, float decay, float nonclickCoefficient, float clickCoefficient,
    int admitCount, float admitProbability, float shrinkScore, int shrinkUnseenDays, long ttlSeconds)
    implements TableLifeBuilder.With {

  /** Rules by which rows are created and stay, and nothing is counted. */
  public static final TableLife NONE = new TableLife(false, 0.98f, 0.1f, 1, 0, 1, 0, 0, 0);

  /** Number of columns of a push that are counts: show and click. */
  public static final int COUNTS = 2;

  public TableLife {
    require(decay > 0 && decay <= 1, "decay", decay, "above 0 and at most 1");
    require(nonclickCoefficient >= 0 && Float.isFinite(nonclickCoefficient), "nonclick_coefficient",
        nonclickCoefficient, "a finite number, 0 or more");
    require(clickCoefficient >= 0 && Float.isFinite(clickCoefficient), "click_coefficient", clickCoefficient,
        "a finite number, 0 or more");
    require(admitCount >= 0, "admit_count", admitCount, "0 or more");
    require(admitProbability > 0 && admitProbability <= 1, "admit_probability", admitProbability,
        "above 0 and at most 1: the probability that a training pull admits a row");
    require(admitCount <= 1 || admitProbability == 1, "admit_count", admitCount,
        "0 where admit_probability is given: rows are admitted by count or by chance");
    require(shrinkScore >= 0 && Float.isFinite(shrinkScore), "shrink_score", shrinkScore, "a finite number, 0 or more");
    require(shrinkScore == 0 || statistics, "shrink_score", shrinkScore,
        "0 without statistics: a score is made of shows and clicks");
    require(shrinkUnseenDays >= 0, "shrink_unseen_days", shrinkUnseenDays, "0 or more");
    require(ttlSeconds >= 0, "ttl_s", ttlSeconds, "0 or more");
  }

  /** Returns the rules of {@link #NONE}, with shows and clicks. */
  public static TableLife counted() {
    return NONE.withStatistics(true);
  }

  /** Returns the same rules with the default in every field that has no effect on them. */
  public TableLife used() {
    TableLife counts = statistics ? this : with(life -> life.decay(NONE.decay)
        .nonclickCoefficient(NONE.nonclickCoefficient).clickCoefficient(NONE.clickCoefficient));
    return admits() ? counts : counts.withAdmitCount(0);
  }

  /** Returns true if rows have columns about their life after their values and slots. */
  public boolean isTracked() {
    return statistics || admits() || shrinkUnseenDays > 0 || ttlSeconds > 0;
  }

  /** Returns true if a row may exist without being admitted. */
  public boolean admits() {
    return admitCount > 1 || admitProbability < 1;
  }

  private static void require(boolean ok, String key, Object value, String expected) {
    if (!ok) {
      throw new InvalidInput("life of a sparse table: " + key + " is " + value + ", it must be " + expected);
    }
  }
}
