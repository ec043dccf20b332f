package io.regatta.core.metrics;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;

/**
 * Confusion matrix, accuracy, F1 and log loss of a classifier over several classes, as sums that can be added over
 * ranks. The global value is exactly the one that a single process gets from the same predictions. The predicted class
 * is the one of the highest probability, of equal ones the first. Not thread-safe; one owner.
 */
public final class ClassMetrics {

  private static final float ROUNDING = 1e-5f;
  private static final double MIN_PROBABILITY = 1e-7;

  private final int classes;
  /** Examples by class and predicted class, {@code [classes × classes]}. */
  private final long[] confusion;
  private final FixedPointSum loss = new FixedPointSum();

  /** @param classes at least 2 */
  public ClassMetrics(int classes) {
    if (classes < 2) {
      throw new InvalidInput("metrics of classes need at least 2 classes, not " + classes);
    }
    this.classes = classes;
    confusion = new long[Math.multiplyExact(classes, classes)];
  }

  /**
   * Adds one prediction.
   *
   * @param probabilities of the classes, from {@code from} on
   * @param label number of the class
   */
  public void add(float[] probabilities, int from, int label) {
    if (label < 0 || label >= classes) {
      throw new InvalidInput("class " + label + " is not one of the " + classes + " classes, which are numbered from 0");
    }
    int best = 0;
    for (int c = 0; c < classes; c++) {
      float p = probabilities[from + c];
      if (!(p >= -ROUNDING && p <= 1 + ROUNDING)) {
        throw new InvalidInput("prediction " + p + " is not a probability in [0, 1]: give the softmax of the outputs; NaN means "
            + "that training has diverged");
      }
      best = p > probabilities[from + best] ? c : best;
    }
    confusion[label * classes + best]++;
    loss.add(-StrictMath.log(Math.max(MIN_PROBABILITY, Math.min(1 - MIN_PROBABILITY, probabilities[from + label]))));
  }

  /** Adds the sums of another instance to these (same number of classes). */
  public void merge(ClassMetrics other) {
    for (int i = 0; i < confusion.length; i++) {
      confusion[i] += other.confusion[i];
    }
    loss.add(other.loss);
  }

  /** Returns the number of predictions. */
  public long count() {
    return Arrays.stream(confusion).sum();
  }

  /** Returns the number of examples of class {@code label} for which class {@code predicted} was predicted. */
  public long confusion(int label, int predicted) {
    return confusion[label * classes + predicted];
  }

  /** Returns the fraction of correct predictions; NaN if there are none at all. */
  public double accuracy() {
    long correct = 0;
    for (int c = 0; c < classes; c++) {
      correct += confusion(c, c);
    }
    return (double) correct / count();
  }

  /** Returns the harmonic mean of precision and recall of a class; 0 if no example of it is predicted correctly. */
  public double f1(int label) {
    long either = 0;
    for (int c = 0; c < classes; c++) {
      either += confusion(label, c) + confusion(c, label);
    }
    return either == 0 ? 0 : 2.0 * confusion(label, label) / either;
  }

  /** Returns the mean of the classes' {@link #f1}, over the classes that occur or are predicted; NaN without any. */
  public double macroF1() {
    double sum = 0;
    int seen = 0;
    for (int c = 0; c < classes; c++) {
      boolean occurs = false;
      for (int other = 0; other < classes; other++) {
        occurs |= confusion(c, other) + confusion(other, c) > 0;
      }
      sum += occurs ? f1(c) : 0;
      seen += occurs ? 1 : 0;
    }
    return sum / seen;
  }

  /** Returns the mean log loss (natural), probabilities limited to [1e-7, 1-1e-7]; NaN if there are none at all. */
  public double logloss() {
    return loss.value() / count();
  }

  /** Returns the sums as whole numbers in doubles, to all-reduce with SUM and give to {@link #ofSums}. */
  public double[] sums() {
    double[] sums = new double[confusion.length + FixedPointSum.PARTS];
    for (int i = 0; i < confusion.length; i++) {
      sums[i] = confusion[i];
    }
    loss.write(sums, confusion.length);
    return sums;
  }

  /** Returns the metrics with these {@link #sums}, of one instance or added over several. */
  public static ClassMetrics ofSums(double[] sums) {
    int classes = (int) Math.round(Math.sqrt(sums.length - FixedPointSum.PARTS));
    if (classes * classes + FixedPointSum.PARTS != sums.length) {
      throw new InvalidInput("an array of " + sums.length + " numbers is not the sums of metrics of classes");
    }
    ClassMetrics m = new ClassMetrics(classes);
    for (int i = 0; i < m.confusion.length; i++) {
      m.confusion[i] = (long) sums[i];
    }
    m.loss.read((long) sums[m.confusion.length], (long) sums[m.confusion.length + 1]);
    return m;
  }
}
