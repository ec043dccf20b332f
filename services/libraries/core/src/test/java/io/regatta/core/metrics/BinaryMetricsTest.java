package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class BinaryMetricsTest {

  private record Predictions(float[] probability, float[] label) {

    /** Logistic scores of two overlapping classes; {@code spread} small: all probabilities in a few buckets. */
    static Predictions of(long seed, int n, double spread) {
      Random random = new Random(seed);
      float[] p = new float[n];
      float[] y = new float[n];
      for (int i = 0; i < n; i++) {
        y[i] = random.nextInt(4) == 0 ? 1 : 0;
        p[i] = (float) (1 / (1 + Math.exp(-spread * (random.nextGaussian() + 1.2 * y[i] - 1.5))));
      }
      return new Predictions(p, y);
    }

    BinaryMetrics metrics(int from, int to, int buckets) {
      BinaryMetrics m = new BinaryMetrics(buckets);
      for (int i = from; i < to; i++) {
        m.add(probability[i], label[i]);
      }
      return m;
    }

    /** The Mann-Whitney statistic from mid-ranks. */
    double rankAuc() {
      int n = label.length;
      Integer[] order = IntStream.range(0, n).boxed().sorted(Comparator.comparing(i -> probability[i]))
          .toArray(Integer[]::new);
      double rankSum = 0;
      long positives = 0;
      for (int i = 0; i < n; ) {
        int j = i;
        while (j < n && probability[order[j]] == probability[order[i]]) {
          j++;
        }
        for (int k = i; k < j; k++) {
          if (label[order[k]] == 1) {
            rankSum += (i + 1 + j) / 2.0;
            positives++;
          }
        }
        i = j;
      }
      return (rankSum - positives * (positives + 1) / 2.0) / positives / (n - positives);
    }
  }

  @Test
  void aucIsTheRankStatisticWithinAThousandth() {
    for (double spread : new double[] {0.1, 1, 4}) {
      Predictions p = Predictions.of(7, 50_000, spread);
      assertThat(p.metrics(0, 50_000, BinaryMetrics.BUCKETS).auc()).isCloseTo(p.rankAuc(), within(1e-3));
    }
  }

  @Test
  void aucOfSmallCasesIsExact() {
    Predictions p = new Predictions(new float[] {0.9f, 0.8f, 0.7f, 0.6f}, new float[] {1, 0, 1, 0});
    assertThat(p.metrics(0, 4, 10).auc()).isEqualTo(0.75);
    Predictions ties = new Predictions(new float[] {0.5f, 0.5f, 0.5f, 0.1f}, new float[] {1, 0, 0, 0});
    assertThat(ties.metrics(0, 4, 10).auc()).isCloseTo(2 / 3.0, within(1e-15));
    Predictions ends = new Predictions(new float[] {1, 0}, new float[] {1, 0});
    assertThat(ends.metrics(0, 2, 4096).auc()).isEqualTo(1);
  }

  @Test
  void aucIsAHalfIfAClassIsMissing() {
    assertThat(new BinaryMetrics(4096).auc()).isEqualTo(0.5);
    Predictions positives = new Predictions(new float[] {0.2f, 0.9f}, new float[] {1, 1});
    assertThat(positives.metrics(0, 2, 4096).auc()).isEqualTo(0.5);
    Predictions negatives = new Predictions(new float[] {0.2f, 0.9f}, new float[] {0, 0});
    assertThat(negatives.metrics(0, 2, 4096).auc()).isEqualTo(0.5);
  }

  @Test
  void accuracyTakesAHalfForPositive() {
    Predictions p = new Predictions(new float[] {0.5f, 0.5f, 0.49f, 0.51f}, new float[] {1, 0, 0, 1});
    assertThat(p.metrics(0, 4, 16).accuracy()).isEqualTo(0.75);
    assertThat(p.metrics(0, 1, 16).accuracy()).isEqualTo(1);
    assertThat(p.metrics(1, 2, 16).accuracy()).isZero();
  }

  @Test
  void loglossIsTheMeanOfLogarithms() {
    Predictions p = Predictions.of(3, 10_000, 1);
    double sum = 0;
    for (int i = 0; i < 10_000; i++) {
      sum -= Math.log(p.label()[i] == 1 ? p.probability()[i] : 1.0 - p.probability()[i]);
    }
    assertThat(p.metrics(0, 10_000, 16).logloss()).isCloseTo(sum / 10_000, within(1e-9));
    Predictions wrong = new Predictions(new float[] {0, 1}, new float[] {1, 0});
    assertThat(wrong.metrics(0, 2, 16).logloss()).isCloseTo(-Math.log(1e-7), within(1e-6));
  }

  @Test
  void errorsAndCalibrationAreThoseOfTheDefinition() {
    Predictions p = new Predictions(new float[] {0.75f, 0.5f, 0.25f, 1}, new float[] {1, 0, 0, 1});
    BinaryMetrics m = p.metrics(0, 4, 16);
    assertThat(m.mae()).isEqualTo((0.25 + 0.5 + 0.25) / 4);
    assertThat(m.rmse()).isEqualTo(Math.sqrt((0.0625 + 0.25 + 0.0625) / 4));
    assertThat(m.calibration()).isEqualTo(2.5 / 2);
    Predictions negatives = new Predictions(new float[] {0.2f, 0.9f}, new float[] {0, 0});
    assertThat(negatives.metrics(0, 2, 16).calibration()).isNaN();
  }

  @Test
  void nothingHasNoMean() {
    BinaryMetrics nothing = new BinaryMetrics(16);
    assertThat(new double[] {nothing.accuracy(), nothing.logloss(), nothing.mae(), nothing.rmse(),
        nothing.calibration()}).containsOnly(Double.NaN);
  }

  /** However the examples lie on ranks and in whichever order ranks are merged: the same bits as one process. */
  @Property(tries = 50)
  void mergedIsExactlySingle(@ForAll long seed, @ForAll @IntRange(min = 1, max = 7) int ranks,
      @ForAll @IntRange(max = 600) int n) {
    Predictions p = Predictions.of(seed, n, 1);
    BinaryMetrics single = p.metrics(0, n, 512);
    BinaryMetrics merged = new BinaryMetrics(512);
    double[] summed = new double[merged.sums().length];
    for (int r = ranks - 1; r >= 0; r--) {
      BinaryMetrics local = p.metrics((int) ((long) n * r / ranks), (int) ((long) n * (r + 1) / ranks), 512);
      merged.merge(local);
      double[] sums = local.sums();
      for (int i = 0; i < sums.length; i++) {
        summed[i] += sums[i];
      }
    }
    assertSame(merged, single);
    assertSame(BinaryMetrics.ofSums(summed), single);
  }

  private static void assertSame(BinaryMetrics actual, BinaryMetrics expected) {
    assertThat(actual.count()).isEqualTo(expected.count());
    assertThat(actual.auc()).isEqualTo(expected.auc());
    assertThat(actual.accuracy()).isEqualTo(Double.valueOf(expected.accuracy()));
    assertThat(actual.logloss()).isEqualTo(Double.valueOf(expected.logloss()));
    assertThat(actual.mae()).isEqualTo(Double.valueOf(expected.mae()));
    assertThat(actual.rmse()).isEqualTo(Double.valueOf(expected.rmse()));
    assertThat(actual.calibration()).isEqualTo(Double.valueOf(expected.calibration()));
    assertThat(actual.averagePrecision()).isEqualTo(expected.averagePrecision());
    assertThat(actual.normalizedEntropy()).isEqualTo(Double.valueOf(expected.normalizedEntropy()));
    assertThat(actual.sums()).isEqualTo(expected.sums());
  }

  @Test
  void resetForgetsEverything() {
    BinaryMetrics m = Predictions.of(1, 100, 1).metrics(0, 100, 64);
    m.reset();
    assertSame(m, new BinaryMetrics(64));
  }

  @Test
  void wrongInputIsRefused() {
    BinaryMetrics m = new BinaryMetrics(16);
    assertRefused(() -> m.add(Float.NaN, 1), "diverged");
    assertRefused(() -> m.add(1.5f, 1), "prediction 1.5 is not a probability");
    assertRefused(() -> m.add(0.5f, 0.5f), "label 0.5");
    assertRefused(() -> m.merge(new BinaryMetrics(17)), "17 buckets");
    assertRefused(() -> new BinaryMetrics(0), "0 buckets");
    assertRefused(() -> BinaryMetrics.ofSums(new double[6]), "6 numbers");
    double[] mean = Arrays.stream(Predictions.of(1, 3, 1).metrics(0, 3, 16).sums()).map(x -> x / 2).toArray();
    assertRefused(() -> BinaryMetrics.ofSums(mean), "no count");
    assertThat(m.count()).isZero();
    m.add(1 + 1e-6f, 1);
    assertThat(m.count()).isEqualTo(1);
  }

  private static void assertRefused(Runnable what, String text) {
    assertThatThrownBy(what::run).isInstanceOf(InvalidInput.class).hasMessageContaining(text);
  }

  @Test
  void boundsThemselvesAreAllowed() {
    BinaryMetrics m = new BinaryMetrics(1);
    m.add(-1e-5f, 0);
    m.add(1 + 1e-5f, 1);
    assertRefused(() -> m.add(Math.nextDown(-1e-5f), 0), "not a probability");
    assertRefused(() -> m.add(Math.nextUp(1 + 1e-5f), 0), "not a probability");
    assertThat(m.auc()).as("1 is in the bucket above the other").isEqualTo(1);
    assertThat(BinaryMetrics.ofSums(m.sums()).auc()).isEqualTo(1);
    assertThat(new BinaryMetrics(BinaryMetrics.MAX_BUCKETS).count()).isZero();
    assertRefused(() -> new BinaryMetrics(BinaryMetrics.MAX_BUCKETS + 1), "buckets");
  }

  @Test
  void predictionsOfOneAreMergedWithTheOthers() {
    BinaryMetrics merged = new BinaryMetrics(16);
    BinaryMetrics ones = new BinaryMetrics(16);
    ones.add(1, 1);
    ones.add(0, 0);
    merged.merge(ones);
    assertThat(merged.auc()).isEqualTo(1);
    assertThat(merged.calibration()).isEqualTo(1);
  }

  @Test
  void aHalfIsAPredictionOfThePositiveClass() {
    BinaryMetrics m = new BinaryMetrics(16);
    m.add(0.5f, 1);
    assertThat(m.accuracy()).isEqualTo(1);
  }
}
