package io.regatta.core.metrics;

/**
 * Top-1 and top-5 accuracy: the fraction of examples whose label has the highest, or one of the five highest, of the
 * scores. Of equal scores the one of the lower class counts as higher; a label whose score is NaN counts as wrong. Kept
 * as sums, so that results of parts of a data set can be added ({@link #sums}). Owned by one thread at a time.
 */
public final class TopAccuracy {

  private static final int FIVE = 5;

  private long examples;
  private long first;
  private long amongFive;

  /** Returns the metrics with these {@link #sums}, possibly added over several instances. */
  public static TopAccuracy ofSums(double[] sums) {
    TopAccuracy of = new TopAccuracy();
    of.examples = (long) sums[0];
    of.first = (long) sums[1];
    of.amongFive = (long) sums[2];
    return of;
  }

  /**
   * Adds a batch.
   *
   * @param scores {@code [labels.length × classes]}, row-major; logits or probabilities
   * @param labels classes, whole numbers in [0, classes)
   */
  public void add(float[] scores, float[] labels) {
    int classes = labels.length == 0 ? 0 : scores.length / labels.length;
    for (int i = 0; i < labels.length; i++) {
      int higher = higher(scores, i * classes, classes, (int) labels[i]);
      first += higher == 0 ? 1 : 0;
      amongFive += higher < FIVE ? 1 : 0;
    }
    examples += labels.length;
  }

  private static int higher(float[] scores, int from, int classes, int label) {
    float own = scores[from + label];
    if (Float.isNaN(own)) {
      return classes + FIVE;
    }
    int higher = 0;
    for (int c = 0; c < classes; c++) {
      float other = scores[from + c];
      higher += other > own || other == own && c < label ? 1 : 0;
    }
    return higher;
  }

  /** Adds the sums of another instance. */
  public void merge(TopAccuracy other) {
    examples += other.examples;
    first += other.first;
    amongFive += other.amongFive;
  }

  /** Returns the numbers of examples, of right ones, and of those right among five, which can be added over ranks. */
  public double[] sums() {
    return new double[] {examples, first, amongFive};
  }

  public long examples() {
    return examples;
  }

  /** Returns the top-1 accuracy; NaN without examples. */
  public double top1() {
    return examples == 0 ? Double.NaN : (double) first / examples;
  }

  /** Returns the top-5 accuracy; NaN without examples. */
  public double top5() {
    return examples == 0 ? Double.NaN : (double) amongFive / examples;
  }
}
