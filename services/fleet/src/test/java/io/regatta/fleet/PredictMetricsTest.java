package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.progress.Progress;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.FileSource;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.predictor.Predictor;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Metrics of {@code predict --metrics}: those of the run that trained the model. AUC by group is also counted pair by
 * pair.
 */
class PredictMetricsTest {

  private static final int SLOT = 8;

  @TempDir
  Path dir;

  private record Outcome(float score, float label) {}

  @Test
  void when_a_cluster_reports_gauc_then_predict_prints_the_same_and_pairs_count_to_it() {
    Path model = dir.resolve("model");
    RunResult result = LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync",
        "trainers=2", "threads=2", "output=" + model, "settings.gauc_slot=" + SLOT)).withoutHazelcast().withProgress(Progress.none())).get(0);
    Path test = dir.resolve("data/test.tsv");
    double gauc = result.metrics().get("gauc");

    CommandLineRun predict = CommandLineRun.regatta("predict", "--model", model.toString(), "--metrics",
        test.toString());
    assertThat(predict.status()).as(predict.toString()).isZero();
    List<Float> scores = predict.out().lines().map(Float::parseFloat).toList();
    assertThat(scores).hasSize(1000);
    Map<String, Double> printed = printed(predict);
    assertThat(printed.get("auc")).isCloseTo(result.auc(), within(1e-4));
    for (String metric : List.of("pr_auc", "normalized_entropy")) {
      assertThat(printed.get(metric)).as(metric).isCloseTo(result.metrics().get(metric), within(1e-4));
    }
    assertThat(printed.get("gauc")).isCloseTo(gauc, within(1e-4));
    assertThat(printed.get("gauc_groups")).isEqualTo(result.metrics().get("gauc_groups")).isGreaterThan(5);
    assertThat(gauc(model, test, scores)).isCloseTo(printed.get("gauc"), within(1e-5));

    CommandLineRun plain = CommandLineRun.regatta("predict", "--model", model.toString(), test.toString());
    assertThat(plain.out()).isEqualTo(predict.out());
    assertThat(plain.err()).doesNotContain("auc");
  }

  @ParameterizedTest
  @CsvSource({"logistic-regression, a9a.t", "census, adult.test"})
  void when_a_model_of_another_binary_classifier_is_asked_then_its_metrics_are_those_of_its_run(String job, String test)
      throws IOException {
    Path data = dir.resolve("data");
    Path model = dir.resolve("model");
    Path file = dir.resolve("result.json");
    CommandLineRun train = CommandLineRun.regatta("train", "--local",
        Checkout.file("configs/" + job + ".yaml").toString(), "--data", data.toString(), "--max-steps", "50",
        "--set", "output=" + model, "--result", file.toString());
    assertThat(train.status()).as(train.toString()).isZero();
    JsonObject result = new JsonObject(Files.readString(file));

    CommandLineRun predict = CommandLineRun.regatta("predict", "--model", model.toString(), "--metrics",
        data.resolve(test).toString());
    assertThat(predict.status()).as(predict.toString()).isZero();
    Map<String, Double> printed = printed(predict);
    for (String metric : List.of("auc", "accuracy", "logloss")) {
      assertThat(printed.get(metric)).as(metric).isCloseTo(result.getDouble(metric), within(1e-4));
    }
    for (String metric : List.of("mae", "rmse", "calibration", "pr_auc", "normalized_entropy")) {
      double reported = result.getJsonObject("metrics").getDouble(metric);
      assertThat(printed.get(metric)).as(metric).isCloseTo(reported, within(1e-4));
    }
  }

  private static Map<String, Double> printed(CommandLineRun predict) {
    Map<String, Double> printed = new HashMap<>();
    String line = predict.err().lines().filter(text -> text.startsWith("auc ")).findFirst().orElseThrow();
    for (String metric : line.split(", ")) {
      printed.put(metric.split(" ")[0], Double.parseDouble(metric.split(" ")[1]));
    }
    return printed;
  }

  private static double gauc(Path model, Path test, List<Float> scores) {
    Map<Long, List<Outcome>> groups = new HashMap<>();
    try (Predictor predictor = Predictor.load(model)) {
      SlotBatch examples = read(predictor.examples(List.of(test)), scores.size());
      for (int i = 0; i < scores.size(); i++) {
        long id = examples.ids()[i * examples.layout().columns() + SLOT];
        if (id != DistinctIds.PADDING && !examples.layout().emptyIds().get(SLOT).equals(id)) {
          groups.computeIfAbsent(id, group -> new ArrayList<>()).add(new Outcome(scores.get(i), examples.labels()[i]));
        }
      }
    }
    double sum = 0;
    double weight = 0;
    for (List<Outcome> group : groups.values()) {
      double pairs = 0;
      double right = 0;
      for (Outcome positive : group) {
        for (Outcome negative : group) {
          if (positive.label > negative.label) {
            pairs++;
            right += positive.score > negative.score ? 1 : positive.score == negative.score ? 0.5 : 0;
          }
        }
      }
      sum += pairs == 0 ? 0 : group.size() * right / pairs;
      weight += pairs == 0 ? 0 : group.size();
    }
    return sum / weight;
  }

  private static <R> SlotBatch read(FileSource<R> source, int rows) {
    SlotBatch batch = SlotBatch.allocate(source.layout(), rows);
    try (SlotSource.Cursor<R> records = source.open()) {
      for (int i = 0; i < rows; i++) {
        assertThat(source.parse(records.next(), batch, i)).isTrue();
      }
    }
    return batch;
  }
}
