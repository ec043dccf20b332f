package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;

/**
 * AUC, average precision, accuracy, log loss, normalized entropy, errors and calibration of a binary classifier, as
 * sums that can be added over ranks. The global value is exactly the one that a single process gets from the same
 * predictions. AUC and average precision are by histograms, walked from high to low: AUC with trapezoids, 0.5 if a
 * class is missing. The buckets are those of Paddle's {@code auc} op (bin = (int)(p · buckets), buckets + 1 bins). Not
 * thread-safe; one owner.
 */
public final class BinaryMetrics {

  /** Default number of buckets: 2^16, within 1e-3 of the exact AUC with a wide margin. */
  public static final int BUCKETS = 1 << 16;

  /** Largest number of buckets: more than the 2^24 steps of a float could not separate more predictions. */
  public static final int MAX_BUCKETS = 1 << 24;

  /**
   * Amount by which a probability may leave [0, 1], as the rounding of a float softmax does; it is then limited to it.
   */
  private static final float ROUNDING = 1e-5f;
  private static final double MIN_PROBABILITY = 1e-7;
  private static final int FRACTIONS = 4;
  /** Number of {@link #sums} after the histograms. */
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
  /** The fractions in the order of {@link #sums}: {@value #FRACTIONS} of them. */
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

  /** Adds the sums of another instance to these (same number of buckets). */
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

  /** Returns the number of predictions. */
  public long count() {
    return count;
  }

  /**
   * Returns the area under the ROC curve; 0.5 if there are no positives or no negatives. It is the probability that a
   * positive example gets a higher prediction than a negative one. Ties (one bucket) count half.
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

  /**
   * Returns the area under the precision-recall curve as average precision; 0 without a positive. From the highest bin
   * down it is the sum of the recall that a bin adds times the precision down to it. Ties (one bucket) enter together.
   * So it is scikit-learn's {@code average_precision_score} of the predictions, rounded down to their buckets.
   */
  public double averagePrecision() {
    double positives = 0;
    double predictions = 0;
    double sum = 0;
    for (int i = buckets; i >= 0; i--) {
      positives += positive[i];
      predictions += positive[i] + negative[i];
      if (positive[i] > 0) {
        sum += positive[i] * (positives / predictions);
      }
    }
    return positives == 0 ? 0 : sum / positives;
  }

  /** Returns the fraction of correct predictions; NaN if there are none at all. */
  public double accuracy() {
    return (double) correct / count;
  }

  /** Returns the mean log loss (natural), probabilities limited to [1e-7, 1-1e-7]; NaN if there are none at all. */
  public double logloss() {
    return loss.value() / count;
  }

  /**
   * Returns {@link #logloss} divided by the entropy of the fraction of positives (He et al. 2014). It is 1 for the
   * predictor that always answers this fraction, and less for a better one; NaN if a class is missing.
   */
  public double normalizedEntropy() {
    long positives = Arrays.stream(positive).sum();
    if (positives == 0 || positives == count) {
      return Double.NaN;
    }
    double rate = (double) positives / count;
    double other = (double) (count - positives) / count;
    return logloss() / -(rate * StrictMath.log(rate) + other * StrictMath.log(other));
  }

  /** Returns the mean absolute difference between probability and label; NaN if there are none at all. */
  public double mae() {
    return absoluteError.value() / count;
  }

  /** Returns the root of the mean squared difference between probability and label; NaN if there are none at all. */
  public double rmse() {
    return Math.sqrt(squaredError.value() / count);
  }

  /**
   * Returns the mean probability divided by the fraction of positives (for clicks: predicted to observed rate). It is 1
   * if the mean is right, and NaN without a positive.
   */
  public double calibration() {
    long positives = Arrays.stream(positive).sum();
    return positives == 0 ? Double.NaN : predicted.value() / positives;
  }

  /**
   * Returns the sums as doubles, to all-reduce with SUM and give to {@link #ofSums}. They are exact: counts are whole
   * numbers below 2^53, and fractions are summed in fixed point, independent of the order. Layout: positives by bin,
   * negatives by bin, correct, and two numbers each for log loss, probabilities, absolute and squared errors.
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

  /** Returns the metrics with these {@link #sums}, of one instance or added over several. */
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
