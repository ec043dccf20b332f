package io.regatta.core.table;

import io.regatta.core.hash.Mix64;
import io.regatta.core.model.TableLife;
import java.util.function.LongPredicate;

/**
 * The access to the columns of {@link RowLayout} about a row's life, and the counts of what happens to rows. A row is
 * given as the slab that holds it and its offset there. Owned by its {@link SparseTable}.
 */
final class RowLife {

  /** The reason why a row is removed, or that it stays. */
  enum Fate { STAYS, SCORE, UNSEEN, EXPIRED }

  /** Own stream of the hash, independent of initial values. */
  private static final long ADMISSION = 0x61646d6974L;
  private static final double TWO_TO_MINUS_53 = 0x1p-53;
  private static final int ADMITTED = 1 << 31;
  private static final int MOST_PULLS = Integer.MAX_VALUE;

  private final TableLife spec;
  private final int columns;
  private final long key;
  private final boolean rounds;
  private final TrainingClock clock;
  private int now;
  /** Last {@link #mark}, unsigned. */
  private int marks;
  long notAdmittedPulls;
  long droppedGradients;
  long evicted;
  long shrinks;
  private long admitted;
  private long aged;
  private final long[] gone = new long[Fate.values().length];

  /**
   * Creates the access for one table.
   *
   * @param key what rows of the table have in common; random admission is a function of it, the id and the pull
   * @param rounds whether pushes arrive in rounds. A row's pulls are then counted by its updates, one for all trainers
   *     of a round, so that neither the order of their pulls nor a pull repeated after a restart changes anything
   * @param clock dates rows
   */
  RowLife(TableLife spec, RowLayout layout, long key, boolean rounds, TrainingClock clock) {
    this.spec = spec;
    this.rounds = rounds;
    columns = layout.life();
    this.key = Mix64.mix(key ^ ADMISSION);
    this.clock = clock;
  }

  /** Returns true if a row may exist without being admitted. */
  boolean admits() {
    return spec.admits();
  }

  boolean countsPulls() {
    return spec.admits() && !rounds;
  }

  /** Reads the clock, for the calls that follow. */
  void tick() {
    now = clock.seconds();
  }

  /** Initializes the columns of a row that has just been created, all zeros so far. */
  void born(float[] slab, int off) {
    int at = off + columns;
    slab[at + RowLayout.PULLS] = bits(spec.admits() ? 0 : ADMITTED);
    slab[at + RowLayout.SEEN] = bits(now);
    slab[at + RowLayout.BORN] = bits(marks);
  }

  /**
   * Counts a training pull of the row.
   *
   * @param counts whether the pull counts for the admission of an id; asked only if the row is not admitted; null: it
   *     counts
   * @return whether that admits the row, so that its values must be initialized now
   */
  boolean pulled(float[] slab, int off, long id, LongPredicate counts) {
    int at = off + columns;
    int pulls = Float.floatToRawIntBits(slab[at + RowLayout.PULLS]);
    int count = next(pulls);
    slab[at + RowLayout.UNSEEN] = 0;
    slab[at + RowLayout.SEEN] = bits(now);
    if (counts != null && pulls >= 0 && !counts.test(id)) {
      return false;
    }
    boolean admits = pulls >= 0 && admitted(id, count);
    slab[at + RowLayout.PULLS] = bits(pulls & ADMITTED | (admits ? ADMITTED : 0)
        | (rounds ? pulls & MOST_PULLS : count));
    if (admits) {
      admitted++;
    } else if (pulls >= 0) {
      notAdmittedPulls++;
    }
    return admits;
  }

  private static int next(int pulls) {
    return Math.min(pulls & MOST_PULLS, MOST_PULLS - 1) + 1;
  }

  /** Counts an update of the row, or a gradient of it that was dropped. */
  void updated(float[] slab, int off) {
    if (rounds) {
      int at = off + columns + RowLayout.PULLS;
      int pulls = Float.floatToRawIntBits(slab[at]);
      slab[at] = bits(pulls & ADMITTED | next(pulls));
    }
  }

  /**
   * Decides admission as a pure function of seed, table, id and the number of the pull: the same on any number of
   * shards.
   */
  private boolean admitted(long id, int count) {
    if (spec.admitProbability() < 1) {
      long word = Mix64.mix(Mix64.mix(key + Mix64.GOLDEN * id) + Mix64.GOLDEN * count);
      return (word >>> 11) * TWO_TO_MINUS_53 < spec.admitProbability();
    }
    return count >= spec.admitCount();
  }

  boolean isAdmitted(float[] slab, int off) {
    return Float.floatToRawIntBits(slab[off + columns + RowLayout.PULLS]) < 0;
  }

  /** Admits a row that has values from elsewhere, and so needs no pulls. */
  void admit(float[] slab, int off) {
    int at = off + columns + RowLayout.PULLS;
    slab[at] = bits(Float.floatToRawIntBits(slab[at]) | ADMITTED);
  }

  /** Adds a push's show and click, the first of which lies at {@code from}. */
  void counted(float[] slab, int off, float[] push, int from) {
    int at = off + columns;
    slab[at + RowLayout.SHOW] += push[from];
    slab[at + RowLayout.CLICK] += push[from + 1];
  }

  /** Does one shrink of a row: its counts decay, it grows a day older at the end of a day, and its fate is decided. */
  Fate age(float[] slab, int off, boolean endOfDay) {
    int at = off + columns;
    aged++;
    slab[at + RowLayout.SHOW] *= spec.decay();
    slab[at + RowLayout.CLICK] *= spec.decay();
    if (endOfDay) {
      slab[at + RowLayout.UNSEEN]++;
    }
    // below 0: restored from a later date
    long idle = Integer.toUnsignedLong(now) - Integer.toUnsignedLong(seen(slab, off));
    if (spec.ttlSeconds() > 0 && idle > spec.ttlSeconds()) {
      return Fate.EXPIRED;
    }
    if (spec.shrinkUnseenDays() > 0 && slab[at + RowLayout.UNSEEN] > spec.shrinkUnseenDays()) {
      return Fate.UNSEEN;
    }
    return score(slab, off) < spec.shrinkScore() ? Fate.SCORE : Fate.STAYS;
  }

  /** Returns (show - click) · nonclick coefficient + click · click coefficient. */
  float score(float[] slab, int off) {
    float show = slab[off + columns + RowLayout.SHOW];
    float click = slab[off + columns + RowLayout.CLICK];
    return (show - click) * spec.nonclickCoefficient() + click * spec.clickCoefficient();
  }

  /** Returns the date of the last training pull by the training clock, s, unsigned. */
  int seen(float[] slab, int off) {
    return Float.floatToRawIntBits(slab[off + columns + RowLayout.SEEN]);
  }

  /**
   * Begins a new period for {@link #bornSince}, which ends with the next mark. Walks are counted, not rows, so that a
   * table that creates thousands of rows a second for years does not run out of periods.
   */
  int mark() {
    return ++marks;
  }

  /** Returns whether the row was created, or restored, after that mark. */
  boolean bornSince(float[] slab, int off, int mark) {
    return Integer.compareUnsigned(Float.floatToRawIntBits(slab[off + columns + RowLayout.BORN]), mark) >= 0;
  }

  /** Adopts the columns of a saved row, which another instance of the table created. */
  void restored(float[] slab, int off) {
    slab[off + columns + RowLayout.BORN] = bits(marks);
    clock.restored(seen(slab, off));
  }

  void went(Fate why) {
    gone[why.ordinal()]++;
  }

  /** Returns the number of rows removed. */
  long removed() {
    long removed = evicted;
    for (long n : gone) {
      removed += n;
    }
    return removed;
  }

  /** Returns the counts, together with those that the table keeps itself. */
  TableCounts counts(long allBirths, long restored, long refused) {
    return new TableCounts(allBirths, notAdmittedPulls, droppedGradients, gone[Fate.SCORE.ordinal()],
        gone[Fate.UNSEEN.ordinal()], gone[Fate.EXPIRED.ordinal()], evicted, admitted, shrinks, aged, restored, refused);
  }

  private static float bits(int n) {
    return Float.intBitsToFloat(n);
  }
}
