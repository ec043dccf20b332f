package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;

/**
 * AUC, accuracy, log loss, errors and calibration of a binary classifier: sums that can be added over ranks, so the
 * global value is exactly what one process gets from the same predictions. AUC is by histograms, with buckets as in
 * Paddle's {@code auc} op (bin = (int)(p · buckets), buckets + 1 bins), walked from high to low with trapezoids; 0.5 if a
 * class is missing. Not thread-safe; one owner.
 */
public final class BinaryMetrics {

  /** Default number of buckets: 2^16, within 1e-3 of the exact AUC with a wide margin. */
  public static final int BUCKETS = 1 << 16;

  /** Most buckets: beyond the 2^24 steps of a float they could tell nothing more apart. */
  public static final int MAX_BUCKETS = 1 << 24;

  /** A probability may leave [0, 1] by so much, as the rounding of a float softmax does, and is then limited to it. */
  private static final float ROUNDING = 1e-5f;
  private static final double MIN_PROBABILITY = 1e-7;
  private static final int FRACTIONS = 4;
  /** In {@link #sums}, behind the histograms. */
  private static final int EXTRA_SUMS = 1 + FRACTIONS * FixedPointSum.PARTS;

  private final int buckets;
  private final long[] positive;
  private final long[] negative;
  private long count;
  private long correct;
  private final FixedPointSum loss = new FixedPointSum();
  private final FixedPointSum predicted = new FixedPointSum();
  private final FixedPointSum absoluteError = new FixedPointSum();
  private final FixedPointSum squaredError = new FixedPointSum();
  /** In the order of {@link #sums}: {@value #FRACTIONS} of them. */
  private final FixedPointSum[] fractions = {loss, predicted, absoluteError, squaredError};

  public BinaryMetrics(int buckets) {
    if (buckets < 1 || buckets > MAX_BUCKETS) {
      throw new InvalidInput("metrics want " + buckets + " buckets: it must be 1 to " + MAX_BUCKETS);
    }
    this.buckets = buckets;
    positive = new long[buckets + 1];
    negative = new long[buckets + 1];
  }

  /**
   * Adds one prediction: probability of the positive class in [0, 1], and the label 0 or 1. It counts as correct if
   * (probability ≥ 0.5) is the label.
   */
  public void add(float probability, float label) {
    if (!(probability >= -ROUNDING && probability <= 1 + ROUNDING)) {
      throw new InvalidInput("prediction " + probability + " is not a probability in [0, 1]: give the positive class's "
          + "sigmoid or softmax output; NaN means that training has diverged");
    }
    if (label != 0 && label != 1) {
      throw new InvalidInput("label " + label + " of a binary classifier must be 0 or 1");
    }
    float p = Math.max(0, Math.min(1, probability));
    (label == 1 ? positive : negative)[(int) (p * buckets)]++;
    count++;
    correct += p >= 0.5f == (label == 1) ? 1 : 0;
    double limited = Math.max(MIN_PROBABILITY, Math.min(1 - MIN_PROBABILITY, p));
    loss.add(-StrictMath.log(label == 1 ? limited : 1 - limited));
    double error = Math.abs((double) p - label);
    predicted.add(p);
    absoluteError.add(error);
    squaredError.add(error * error);
  }

  /** Adds another one's sums to these (same number of buckets). */
  public void merge(BinaryMetrics other) {
    if (other.buckets != buckets) {
      throw new InvalidInput("metrics of " + other.buckets + " buckets cannot be merged into " + buckets
          + ": use the same number on every rank");
    }
    for (int i = 0; i <= buckets; i++) {
      positive[i] += other.positive[i];
      negative[i] += other.negative[i];
    }
    count += other.count;
    correct += other.correct;
    for (int i = 0; i < fractions.length; i++) {
      fractions[i].add(other.fractions[i]);
    }
  }

  public void reset() {
    Arrays.fill(positive, 0);
    Arrays.fill(negative, 0);
    count = 0;
    correct = 0;
    for (FixedPointSum sum : fractions) {
      sum.reset();
    }
  }

  /** Number of predictions. */
  public long count() {
    return count;
  }

  /**
   * Area under the ROC curve: the probability that a positive example gets a higher prediction than a negative one,
   * ties (one bucket) counting half. 0.5 if there are no positives or no negatives.
   */
  public double auc() {
    double positives = 0;
    double negatives = 0;
    double area = 0;
    for (int i = buckets; i >= 0; i--) {
      area += negative[i] * (positives + positive[i] / 2.0);
      positives += positive[i];
      negatives += negative[i];
    }
    return positives == 0 || negatives == 0 ? 0.5 : area / positives / negatives;
  }

  /** Share of correct predictions; NaN if there are none at all. */
  public double accuracy() {
    return (double) correct / count;
  }

  /** Mean log loss (natural), probabilities limited to [1e-7, 1-1e-7]; NaN if there are none at all. */
  public double logloss() {
    return loss.value() / count;
  }

  /** Mean absolute difference between probability and label; NaN if there are none at all. */
  public double mae() {
    return absoluteError.value() / count;
  }

  /** Root of the mean squared difference between probability and label; NaN if there are none at all. */
  public double rmse() {
    return Math.sqrt(squaredError.value() / count);
  }

  /**
   * Mean probability to the share of positives (for clicks: predicted to observed rate); 1 if right in the mean, NaN
   * without a positive.
   */
  public double calibration() {
    long positives = Arrays.stream(positive).sum();
    return positives == 0 ? Double.NaN : predicted.value() / positives;
  }

  /**
   * The sums as doubles, to all-reduce with SUM and give to {@link #ofSums}. Exact: counts are whole numbers below
   * 2^53, and fractions are summed in fixed point so that their sum does not depend on the order. Layout: positives
   * by bin, negatives by bin, correct, and two numbers each for log loss, probabilities, absolute and squared errors.
   */
  public double[] sums() {
    int bins = buckets + 1;
    double[] sums = new double[2 * bins + EXTRA_SUMS];
    for (int i = 0; i < bins; i++) {
      sums[i] = positive[i];
      sums[bins + i] = negative[i];
    }
    sums[2 * bins] = correct;
    for (int i = 0; i < fractions.length; i++) {
      fractions[i].write(sums, 2 * bins + 1 + i * FixedPointSum.PARTS);
    }
    return sums;
  }

  /** The metrics whose {@link #sums} these are, or the sum of several ones' sums. */
  public static BinaryMetrics ofSums(double[] sums) {
    int bins = (sums.length - EXTRA_SUMS) / 2;
    if (bins < 2 || 2 * bins + EXTRA_SUMS != sums.length) {
      throw new InvalidInput("an array of " + sums.length + " numbers is not the sums of binary metrics");
    }
    BinaryMetrics m = new BinaryMetrics(bins - 1);
    for (int i = 0; i < bins; i++) {
      m.positive[i] = whole(sums[i]);
      m.negative[i] = whole(sums[bins + i]);
      m.count += m.positive[i] + m.negative[i];
    }
    m.correct = whole(sums[2 * bins]);
    for (int i = 0; i < m.fractions.length; i++) {
      int at = 2 * bins + 1 + i * FixedPointSum.PARTS;
      m.fractions[i].read(whole(sums[at]), whole(sums[at + 1]));
    }
    return m;
  }

  private static long whole(double sum) {
    long n = (long) sum;
    if (n != sum || n < 0) {
      throw new InvalidInput("sums of binary metrics hold " + sum
          + ", which is no count: only adding sums up keeps them valid (no mean, no float32)");
    }
    return n;
  }
}
