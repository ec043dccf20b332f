package io.regatta.training.evaluation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.feature.KeyColumn;
import io.regatta.data.feature.LabelColumn;
import io.regatta.data.feature.LabelColumns;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.EvaluationConfig;
import io.regatta.training.config.LabelConfig;
import io.regatta.training.config.MetricsConfig;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metrics of several replicas are those of one, with the replicas as threads that add arrays up. */
class EvaluationTest {

  /** A slot of two ids, then that of users; 7 stands for no user. */
  private static final Layout LAYOUT = new Layout(1, List.of(2, 1), false, List.of(3L, 7L));
  private static final int EXAMPLES = 70_000;

  /** Adds arrays of all threads up, in order. */
  private static final class Sums {
    private final double[][] given;
    private final CyclicBarrier all;

    Sums(int replicas) {
      given = new double[replicas][];
      all = new CyclicBarrier(replicas);
    }

    double[] sum(int index, double[] values) {
      given[index] = values;
      meet();
      double[] sum = new double[values.length];
      for (double[] each : given) {
        assertThat(each).hasSameSizeAs(sum);
        for (int i = 0; i < sum.length; i++) {
          sum[i] += each[i];
        }
      }
      meet();
      return sum;
    }

    private void meet() {
      try {
        all.await();
      } catch (InterruptedException | BrokenBarrierException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  private static SlotBatch batch(int replica, int replicas, float[] probabilities) {
    Random random = new Random(5);
    SlotBatch batch = SlotBatch.allocate(LAYOUT, EXAMPLES);
    int rows = 0;
    for (int i = 0; i < EXAMPLES; i++) {
      long none = random.nextBoolean() ? 7 : DistinctIds.PADDING;
      long user = random.nextInt(20) == 0 ? none : random.nextInt(3000) * 1_000_003L << 20;
      float probability = random.nextFloat();
      float label = random.nextFloat() < probability ? 1 : 0;
      if (Math.min(i % 7, replicas - 1) == replica) { // unequal parts
        batch.ids()[3 * rows] = 11;
        batch.ids()[3 * rows + 1] = DistinctIds.PADDING;
        batch.ids()[3 * rows + 2] = user;
        batch.labels()[rows] = label;
        probabilities[rows++] = probability;
      }
    }
    return batch.first(rows);
  }

  private static Map<String, Double> evaluated(EvaluationConfig config, int index, Sums sums, int replicas) {
    Evaluation evaluation = new Evaluation(config, LAYOUT);
    float[] probabilities = new float[EXAMPLES];
    SlotBatch batch = batch(index, replicas, probabilities);
    evaluation.add(Predictions.of(Arrays.copyOf(probabilities, batch.rows()), batch));
    if (sums != null) {
      evaluation.merge(new Ranks(index, replicas, mine -> BinaryMetrics.ofSums(sums.sum(index, mine.sums())),
          values -> sums.sum(index, values)));
    }
    return values(evaluation);
  }

  private static Map<String, Double> values(Evaluation evaluation) {
    Map<String, Double> values = new LinkedHashMap<>();
    evaluation.report(values::put);
    return values;
  }

  private static List<Map<String, Double>> of(EvaluationConfig config, int replicas) {
    return onThreads(replicas, (sums, index) -> evaluated(config, index, sums, replicas));
  }

  private static List<Map<String, Double>> onThreads(int replicas, BiFunction<Sums, Integer, Map<String, Double>> each) {
    Sums sums = new Sums(replicas);
    ExecutorService threads = Executors.newFixedThreadPool(replicas);
    try {
      List<CompletableFuture<Map<String, Double>>> all = new ArrayList<>();
      for (int r = 0; r < replicas; r++) {
        int index = r;
        all.add(CompletableFuture.supplyAsync(() -> each.apply(sums, index), threads));
      }
      return all.stream().map(CompletableFuture::join).toList();
    } finally {
      threads.shutdownNow();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5})
  void severalReplicasHaveTheBitsOfOne(int replicas) {
    EvaluationConfig config = new EvaluationConfig(1, EXAMPLES);
    Map<String, Double> alone = evaluated(config, 0, null, 1);
    assertThat(alone).containsOnlyKeys("auc", "accuracy", "logloss", "mae", "rmse", "calibration", "pr_auc",
        "normalized_entropy", "gauc", "gauc_groups");
    assertThat(alone.get("pr_auc")).as("labels drawn with uniform probabilities").isCloseTo(5 / 6.0, within(0.01));
    assertThat(alone.get("normalized_entropy")).isCloseTo(0.5 / Math.log(2), within(0.01));
    assertThat(alone.get("gauc")).isBetween(0.8, 0.87);
    assertThat(alone.get("gauc_groups")).as("not the empty user").isBetween(2500.0, 3000.0);
    assertThat(of(config, replicas)).hasSize(replicas).allSatisfy(values -> assertThat(values).isEqualTo(alone));
  }

  /** Labels of four kinds, one of which is missing in places; a group and a slice. */
  private static final List<ScoredLabel> LABELS = List.of(
      new ScoredLabel("click.", LabelConfig.Kind.BINARY, List.of(), 0, 0),
      new ScoredLabel("kind.", LabelConfig.Kind.CLASSES, List.of("a", "b", "c"), 1, 1),
      new ScoredLabel("price.", LabelConfig.Kind.NUMBER, List.of(), 2, 4),
      new ScoredLabel("rank.", LabelConfig.Kind.RANK, List.of(), 3, 5));
  private static final LabelColumns OF_ROWS = new LabelColumns(List.of(new LabelColumn("click", "", true),
      new LabelColumn("kind", LabelColumn.Kind.CLASSES, List.of("a", "b", "c"), true),
      new LabelColumn("price", LabelColumn.Kind.NUMBER, List.of(), true), new LabelColumn("rank", LabelColumn.Kind.COUNT, List.of(), true),
      new KeyColumn("user", KeyColumn.Form.HASH, false), new KeyColumn("country", KeyColumn.Form.TEXT, false)));

  private static Map<String, Double> ofLabels(MetricsConfig config, int index, Sums sums, int replicas) {
    Layout layout = new Layout(1, List.of(), false, List.of(), OF_ROWS.width());
    KeyOfExamples user = new KeyOfExamples("user", 4);
    Evaluation evaluation = new Evaluation(LABELS, new Evaluation.Keys(Optional.of(user), Optional.empty(), Optional.of(user),
        List.of(new KeyOfExamples("country", 7))), config);
    Random random = new Random(6);
    List<String> countries = List.of("Österreich", "", "a country whose name is far longer than the bytes of a key", "X");
    for (int i = 0; i < 3000; i++) {
      SlotBatch row = SlotBatch.allocate(layout, 1);
      InputRow input = new InputRow(6);
      List<String> texts = List.of(random.nextInt(5) == 0 ? "" : "" + random.nextInt(2), "abc".charAt(random.nextInt(3)) + "",
          "" + random.nextGaussian(), "" + random.nextInt(4), "u" + random.nextInt(90), countries.get(random.nextInt(4)));
      for (int c = 0; c < 6; c++) {
        byte[] text = texts.get(c).getBytes(StandardCharsets.UTF_8);
        input.text(c, text, 0, text.length);
      }
      assertThat(OF_ROWS.read(input, new int[] {0, 1, 2, 3, 4, 5}, row.labels(), 0)).isNull();
      float[] scores = {random.nextFloat(), 0.5f, 0.2f, 0.3f, random.nextFloat(), random.nextInt(9)};
      if (Math.min(i % 7, replicas - 1) == index) {
        evaluation.add(Predictions.of(scores, row));
      }
    }
    if (sums != null) {
      evaluation.merge(new Ranks(index, replicas, mine -> BinaryMetrics.ofSums(sums.sum(index, mine.sums())),
          values -> sums.sum(index, values)));
    }
    return values(evaluation);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4})
  void labelsSlicesAndGroupsOfSeveralReplicasHaveTheBitsOfOne(int replicas) {
    MetricsConfig config = Settings.defaults(MetricsConfig.class);
    Map<String, Double> alone = ofLabels(config, 0, null, 1);
    assertThat(alone).containsKeys("click.auc", "click.gauc", "click.calibration_observed[0.0-0.1]", "kind.macro_f1", "kind.confusion[a as a]",
        "price.r2", "rank.ndcg@5", "rank.ndcg@10", "click.auc[country=Österreich]", "price.rmse[country=]",
        "kind.accuracy[country=a country whose name is far longer than the byte]", "examples[country=X]").doesNotContainKey("rank.auc");
    assertThat(alone.get("click.calibration_examples[0.0-0.1]")).as("rows without the label do not count").isBetween(200.0, 280.0);
    assertThat(onThreads(replicas, (sums, index) -> ofLabels(config, index, sums, replicas))).hasSize(replicas)
        .allSatisfy(values -> assertThat(values).isEqualTo(alone));
    MetricsConfig few = Settings.bind(new JsonObject("{\"slice_limit\": 3}"), MetricsConfig.class);
    assertThat(onThreads(replicas, (sums, index) -> ofLabels(few, index, sums, replicas)))
        .allSatisfy(values -> assertThat(values.keySet()).noneMatch(name -> name.contains("country")));
  }

  @Test
  void isLeftOutBeyondItsLimitAndWithoutItsKey() {
    assertThat(of(new EvaluationConfig(1, 60_000), 2)).allSatisfy(values -> assertThat(values).containsKey("auc")
        .doesNotContainKey("gauc"));
    assertThat(evaluated(new EvaluationConfig(1, 60_000), 0, null, 1)).doesNotContainKey("gauc");
    assertThat(evaluated(EvaluationConfig.DEFAULT, 0, null, 1)).doesNotContainKey("gauc");
    assertThat(evaluated(new EvaluationConfig(0, EXAMPLES), 0, null, 1)).as("one group")
        .containsEntry("gauc_groups", 1.0);
  }

  @Test
  void refusesASlotThatExamplesDoNotHave() {
    assertThatThrownBy(() -> new Evaluation(new EvaluationConfig(2, 10), LAYOUT)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("settings.gauc_slot is 2").hasMessageContaining("0 to 1");
    assertThatThrownBy(() -> new Evaluation(new EvaluationConfig(1, 0), LAYOUT)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("settings.gauc_limit is 0");
    assertThat(values(new Evaluation(new EvaluationConfig(1, 10), LAYOUT))).doesNotContainKey("gauc");
  }
}
