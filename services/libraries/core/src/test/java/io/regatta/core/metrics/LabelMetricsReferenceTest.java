package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Metrics of classes, numbers, calibration and rankings are those of scikit-learn, for any number of instances whose sums
 * are added. {@code label-metrics/make.py} has written the numbers.
 */
class LabelMetricsReferenceTest {

  private static final Map<String, double[]> NUMBERS = new HashMap<>();

  @BeforeAll
  static void read() throws IOException {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(
        LabelMetricsReferenceTest.class.getResourceAsStream("/label-metrics/metrics.tsv"), StandardCharsets.UTF_8))) {
      lines.lines().map(line -> line.split("\t")).forEach(line -> NUMBERS.put(line[0],
          Arrays.stream(line[1].split(",")).mapToDouble(Double::parseDouble).toArray()));
    }
  }

  private static double number(String name) {
    return NUMBERS.get(name)[0];
  }

  private static double[] sum(double[] a, double[] b) {
    double[] sum = a.clone();
    Arrays.setAll(sum, i -> a[i] + b[i]);
    return sum;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 5})
  void classesAreThoseOfScikitLearn(int instances) {
    double[] labels = NUMBERS.get("classes.labels");
    double[] probabilities = NUMBERS.get("classes.probabilities");
    double[] sums = null;
    for (int rank = 0; rank < instances; rank++) {
      ClassMetrics mine = new ClassMetrics(4);
      for (int i = rank; i < labels.length; i += instances) {
        float[] own = new float[5];
        for (int c = 0; c < 4; c++) {
          own[1 + c] = (float) probabilities[4 * i + c];
        }
        mine.add(own, 1, (int) labels[i]);
      }
      sums = sums == null ? mine.sums() : sum(sums, mine.sums());
    }
    ClassMetrics all = ClassMetrics.ofSums(sums);
    assertThat(all.accuracy()).isCloseTo(number("classes.accuracy"), within(1e-12));
    assertThat(all.macroF1()).isCloseTo(number("classes.macro_f1"), within(1e-12));
    assertThat(all.logloss()).isCloseTo(number("classes.logloss"), within(1e-6));
    for (int i = 0; i < 16; i++) {
      assertThat((double) all.confusion(i / 4, i % 4)).isEqualTo(NUMBERS.get("classes.confusion")[i]);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void numbersAreThoseOfScikitLearn(int instances) {
    double[] targets = NUMBERS.get("numbers.targets");
    double[] predictions = NUMBERS.get("numbers.predictions");
    double[] sums = null;
    for (int rank = 0; rank < instances; rank++) {
      RegressionMetrics mine = new RegressionMetrics();
      for (int i = rank; i < targets.length; i += instances) {
        mine.add((float) predictions[i], (float) targets[i]);
      }
      sums = sums == null ? mine.sums() : sum(sums, mine.sums());
    }
    RegressionMetrics all = RegressionMetrics.ofSums(sums);
    assertThat(all.rmse()).isCloseTo(number("numbers.rmse"), within(1e-12));
    assertThat(all.mae()).isCloseTo(number("numbers.mae"), within(1e-12));
    assertThat(all.r2()).isCloseTo(number("numbers.r2"), within(1e-9));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void calibrationIsThatOfScikitLearn(int instances) {
    double[] labels = NUMBERS.get("calibration.labels");
    double[] probabilities = NUMBERS.get("calibration.probabilities");
    double[] sums = null;
    for (int rank = 0; rank < instances; rank++) {
      CalibrationBuckets mine = new CalibrationBuckets(10);
      for (int i = rank; i < labels.length; i += instances) {
        mine.add((float) probabilities[i], (float) labels[i]);
      }
      sums = sums == null ? mine.sums() : sum(sums, mine.sums());
    }
    CalibrationBuckets all = CalibrationBuckets.ofSums(sums);
    int next = 0;
    for (int i = 0; i < all.buckets(); i++) {
      if (all.count(i) > 0) {
        assertThat(all.observed(i)).isCloseTo(NUMBERS.get("calibration.observed")[next], within(1e-12));
        assertThat(all.predicted(i)).isCloseTo(NUMBERS.get("calibration.predicted")[next++], within(1e-7));
      }
    }
    assertThat(next).isEqualTo(NUMBERS.get("calibration.observed").length);
    assertThat(all.expectedError()).isCloseTo(number("calibration.expected_error"), within(1e-7));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void rankingsAreThoseOfScikitLearn(int instances) {
    double[] groups = NUMBERS.get("ranking.groups");
    List<Integer> cuts = List.of(1, 3, 10);
    GroupRanking[] own = new GroupRanking[instances];
    Arrays.setAll(own, i -> new GroupRanking(cuts, 1000));
    for (int rank = 0; rank < instances; rank++) {
      GroupRanking mine = new GroupRanking(cuts, 1000);
      for (int i = rank; i < groups.length; i += instances) {
        mine.add((long) groups[i] - 7, (float) NUMBERS.get("ranking.scores")[i], (float) NUMBERS.get("ranking.labels")[i]);
      }
      double[] written = new double[groups.length * mine.parts()];
      mine.write(0, groups.length, written, 0);
      for (int to = 0; to < instances; to++) {
        int owner = to;
        own[to].read(written, group -> Math.floorMod(group, instances) == owner);
      }
    }
    double[] sums = Arrays.stream(own).map(GroupRanking::sums).reduce(LabelMetricsReferenceTest::sum).orElseThrow();
    double[] results = own[0].ofSums(sums);
    for (int i = 0; i < cuts.size(); i++) {
      assertThat(results[i]).as("ndcg@" + cuts.get(i)).isCloseTo(number("ranking.ndcg." + cuts.get(i)), within(1e-12));
    }
    assertThat(results[3]).isEqualTo(number("ranking.counted"));
  }
}
