package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Average precision and normalized entropy are those of scikit-learn, and of their closed forms. */
class BinaryMetricsReferenceTest {

  /** A line of {@code binary-metrics/cases.tsv}, which {@code make.py} beside it has written. */
  record Case(String name, double averagePrecision, double normalizedEntropy, float[] labels, float[] probabilities) {

    static Case of(String line) {
      String[] fields = line.split("\t");
      String[] units = fields[4].split(",");
      float[] labels = new float[units.length];
      float[] probabilities = new float[units.length];
      for (int i = 0; i < units.length; i++) {
        labels[i] = fields[3].charAt(i) - '0';
        probabilities[i] = Integer.parseInt(units[i]) / 65_536f;
      }
      double normalizedEntropy = fields[2].equals("nan") ? Double.NaN : Double.parseDouble(fields[2]);
      return new Case(fields[0], Double.parseDouble(fields[1]), normalizedEntropy, labels, probabilities);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Case> cases() throws IOException {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(
        BinaryMetricsReferenceTest.class.getResourceAsStream("/binary-metrics/cases.tsv"), StandardCharsets.UTF_8))) {
      return lines.lines().map(Case::of).toList().stream();
    }
  }

  /** Metrics of every {@code ranks}-th prediction from {@code rank} on. */
  private static BinaryMetrics metrics(float[] probabilities, float[] labels, int rank, int ranks) {
    BinaryMetrics m = new BinaryMetrics(BinaryMetrics.BUCKETS);
    for (int i = rank; i < labels.length; i += ranks) {
      m.add(probabilities[i], labels[i]);
    }
    return m;
  }

  private static BinaryMetrics metrics(float[] probabilities, float[] labels) {
    return metrics(probabilities, labels, 0, 1);
  }

  private static BinaryMetrics constant(float probability, int positives, int negatives) {
    float[] labels = new float[positives + negatives];
    float[] probabilities = new float[labels.length];
    Arrays.fill(labels, 0, positives, 1);
    Arrays.fill(probabilities, probability);
    return metrics(probabilities, labels);
  }

  @Test
  void casesAreThere() throws IOException {
    assertThat(cases()).hasSize(12);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void isThatOfScikitLearn(Case c) {
    BinaryMetrics m = metrics(c.probabilities, c.labels);
    assertThat(m.averagePrecision()).isCloseTo(c.averagePrecision, within(1e-14));
    if (Double.isNaN(c.normalizedEntropy)) {
      assertThat(m.normalizedEntropy()).isNaN();
    } else {
      assertThat(m.normalizedEntropy()).as("each log loss is rounded to 2^-30")
          .isCloseTo(c.normalizedEntropy, within(2e-8));
    }
  }

  /** Sums of three ranks, added up, are the metrics of one; the mean of their values is another number. */
  @ParameterizedTest
  @MethodSource("cases")
  void isMergedOverRanksToTheBit(Case c) {
    BinaryMetrics single = metrics(c.probabilities, c.labels);
    double[] sums = new double[single.sums().length];
    double mean = 0;
    for (int rank = 0; rank < 3; rank++) {
      BinaryMetrics part = metrics(c.probabilities, c.labels, rank, 3);
      mean += part.averagePrecision() / 3;
      double[] more = part.sums();
      Arrays.setAll(sums, i -> sums[i] + more[i]);
    }
    BinaryMetrics merged = BinaryMetrics.ofSums(sums);
    assertThat(merged.averagePrecision()).isEqualTo(single.averagePrecision());
    assertThat(merged.normalizedEntropy()).isEqualTo(Double.valueOf(single.normalizedEntropy()));
    if (c.name.equals("rare positives")) {
      assertThat(mean).isNotCloseTo(c.averagePrecision, within(1e-3));
    }
  }

  @Test
  void averagePrecisionOfOnePositiveIsOneOverItsRank() {
    for (int rank = 1; rank <= 20; rank++) {
      float[] labels = new float[20];
      float[] probabilities = new float[20];
      for (int i = 0; i < 20; i++) {
        probabilities[i] = 1 - i / 20f;
      }
      labels[rank - 1] = 1;
      assertThat(metrics(probabilities, labels).averagePrecision()).isEqualTo(1.0 / rank);
    }
  }

  @Test
  void averagePrecisionOfOneValueIsTheRateOfPositives() {
    for (float probability : new float[] {0, 0.3f, 1}) {
      assertThat(constant(probability, 3, 5).averagePrecision()).isEqualTo(3 / 8.0);
    }
    assertThat(new BinaryMetrics(16).averagePrecision()).as("of nothing").isZero();
  }

  @ParameterizedTest
  @ValueSource(doubles = {0.1, 1, 4})
  void averagePrecisionIsThatOfSortedPredictionsWithinAThousandth(double spread) {
    Random random = new Random(11);
    int n = 50_000;
    float[] labels = new float[n];
    float[] probabilities = new float[n];
    for (int i = 0; i < n; i++) {
      labels[i] = random.nextInt(4) == 0 ? 1 : 0;
      probabilities[i] = (float) (1 / (1 + Math.exp(-spread * (random.nextGaussian() + 1.2 * labels[i] - 1.5))));
    }
    assertThat(metrics(probabilities, labels).averagePrecision())
        .isCloseTo(sortedAveragePrecision(probabilities, labels), within(1e-3));
  }

  /** The definition, of sorted predictions: each different value is a threshold. */
  private static double sortedAveragePrecision(float[] probabilities, float[] labels) {
    int[] order = IntStream.range(0, labels.length).boxed()
        .sorted(Comparator.comparing(i -> -probabilities[i])).mapToInt(i -> i).toArray();
    double positives = IntStream.range(0, labels.length).filter(i -> labels[i] == 1).count();
    double sum = 0;
    int found = 0;
    int before = 0;
    for (int i = 0; i < order.length; i++) {
      found += labels[order[i]] == 1 ? 1 : 0;
      if (i + 1 == order.length || probabilities[order[i + 1]] != probabilities[order[i]]) {
        sum += (found - before) / positives * found / (i + 1);
        before = found;
      }
    }
    return sum;
  }

  @Test
  void normalizedEntropyOfTheRateOfPositivesIsOne() {
    assertThat(constant(0.25f, 1, 3).normalizedEntropy()).isCloseTo(1, within(1e-8));
    assertThat(constant(0.125f, 7, 49).normalizedEntropy()).isCloseTo(1, within(1e-8));
  }

  /** At the rate ½ the entropy is ln 2; each positive at p and negative at 1 - p loses -ln p. */
  @Test
  void normalizedEntropyOfEvenClassesIsLoglossInBits() {
    float[] labels = {1, 0, 1, 0};
    assertThat(metrics(new float[] {0.75f, 0.25f, 0.75f, 0.25f}, labels).normalizedEntropy())
        .isCloseTo(2 - Math.log(3) / Math.log(2), within(1e-8));
    assertThat(metrics(new float[] {0.25f, 0.75f, 0.25f, 0.75f}, labels).normalizedEntropy()).isCloseTo(2, within(1e-8));
  }

  @Test
  void normalizedEntropyOfAMissingClassIsNone() {
    assertThat(new BinaryMetrics(16).normalizedEntropy()).as("of nothing").isNaN();
    assertThat(constant(0.3f, 0, 4).normalizedEntropy()).isNaN();
    assertThat(constant(0.3f, 4, 0).normalizedEntropy()).isNaN();
  }
}
