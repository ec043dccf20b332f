package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.NumberStatistics;
import io.regatta.core.progress.Progress;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotLoader;
import io.regatta.data.feature.RowSplit;
import io.regatta.data.feature.StatisticsFile;
import io.regatta.data.feature.TableStatistics;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.FeatureConfig;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.SnapshotConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A table that no program knows is trained from a job's declarations, saved, and predicted by the names of its columns. */
class TabularModelTest {

  private static final int ROWS = 3000;

  @TempDir
  Path dir;

  /** A row: its values by column, as a CSV line and as a JSON object without the label. */
  private record Row(String csv, String json) {}

  /** The probability depends on a color, on a pair of colors, on a number and on tags; the file has a column that nothing reads. */
  private List<Row> write(Path file) throws Exception {
    Random random = new Random(5);
    List<Row> rows = new ArrayList<>();
    StringBuilder text = new StringBuilder("id,bought,color,size,price,tags\n");
    for (int i = 0; i < ROWS; i++) {
      int color = random.nextInt(4);
      int size = random.nextInt(3);
      double price = random.nextInt(100) / 10.0;
      int tag = random.nextInt(5);
      double logit = color - 1.5 + (color == size ? 2 : -1) + (price < 3 ? 1.5 : -0.5) + (tag == 2 ? 1 : 0);
      boolean bought = random.nextDouble() < 1 / (1 + Math.exp(-logit));
      boolean known = random.nextInt(10) > 0;
      JsonObject json = new JsonObject().put("color", "c" + color).put("price", price)
          .put("tags", JsonArray.of("t" + tag, "t" + (tag + 1) % 5));
      if (known) {
        json.put("size", size);
      }
      Row row = new Row(i + "," + (bought ? "yes" : "no") + ",c" + color + "," + (known ? size : "") + "," + price + ",t" + tag + "|t"
          + (tag + 1) % 5, json.encode());
      rows.add(row);
      text.append(row.csv()).append('\n');
    }
    Files.writeString(file, text);
    return rows;
  }

  private JobConfig job(String model) {
    return JobConfig.of(new JsonObject("""
        {"job": "shop", "epochs": 3, "batch_size": 50, "optimizer": {"kind": "adam", "learning_rate": 0.01},
         "data": {"dir": "DIR", "files": ["train.csv"], "test": {"share": 0.2, "by": "hash"}},
         "labels": {"bought": {"positive": "yes"}},
         "features": {
           "color": {"kind": "id"}, "size": {"kind": "id", "whole": true}, "color x size": {"kind": "cross", "of": ["color", "size"]},
           "price": {"kind": "bucket", "bounds": [1, 2, 3, 4, 6, 8]},
           "tags": {"kind": "ids", "max": 4, "pooling": "mean"},
           "log price": {"kind": "number", "column": "price", "transform": "log", "scale": "none"}},
         "model": {"kind": "MODEL"}, "output": "DIR/model"}""".replace("DIR", dir.toString()).replace("MODEL", model)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2"})
  void learnsAndPredictsByNames(String model) throws Exception {
    List<Row> rows = write(dir.resolve("train.csv"));
    RunResult result = LocalRun.run(job(model), null, Progress.none());
    assertThat(result.auc()).as("AUC; the labels' own is 0.85").isGreaterThan(0.78);

    Path some = Files.writeString(dir.resolve("new.csv"), "tags,size,price,color\n" + reordered(rows.subList(0, 20)));
    try (Predictor predictor = Predictor.load(dir.resolve("model"));
        SlotLoader loader = SlotLoader.open(predictor.examples(List.of(some)), LoaderOptions.inOrder(20), 0)) {
      float[] ofFile = predictor.predict(loader.next()).get().scores();
      float[] ofLines = predictor.predict(rows.subList(0, 20).stream().map(Row::json).toList()).get().scores();
      assertThat(ofFile).hasSize(20).isEqualTo(ofLines);
      assertThat(ofFile[0]).isNotEqualTo(ofFile[1]);
      assertThat(predictor.predict(List.of("{\"color\": \"never seen\"}")).get().scores()[0]).isBetween(0f, 1f);
    }
  }

  /** Three labels, one of which rows may lack: a row is answered with the scores of all, side by side. */
  @Test
  void answersWithTheScoresOfAllLabels() throws Exception {
    write(dir.resolve("train.csv"));
    JobConfig job = JobConfig.of(new JsonObject("""
        {"job": "shop", "epochs": 3, "batch_size": 50, "optimizer": {"kind": "adam", "learning_rate": 0.01},
         "data": {"dir": "DIR", "files": ["train.csv"], "test": {"share": 0.2, "by": "hash"}},
         "labels": {"bought": {"positive": "yes"}, "price": {"kind": "number", "loss": "huber", "weight": 0.1},
           "size": {"kind": "classes", "classes": ["[0-2]"], "missing": "mask"}},
         "features": {"color": {"kind": "id"}, "tags": {"kind": "ids", "max": 4}},
         "model": {"kind": "mmoe", "embedding": 4, "hidden": [16], "tower": [4]}, "output": "DIR/model"}"""
        .replace("DIR", dir.toString())));
    RunResult result = LocalRun.run(job, null, Progress.none());
    assertThat(result.metric("bought.auc")).isGreaterThan(0.6);
    assertThat(result.metrics()).containsKeys("price.rmse", "size.macro_f1", "size.confusion[0 as 2]");
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      assertThat(predictor.outputNames()).containsExactly("bought", "price", "size=0", "size=1", "size=2");
      Predictor.Prediction answer = predictor.predict(List.of("{\"color\": \"c1\"}", "{\"color\": \"c3\", \"size\": 2}")).get();
      assertThat(answer.outputs()).isEqualTo(5);
      assertThat(answer.scores()).hasSize(10);
      assertThat(answer.scores()[2] + answer.scores()[3] + answer.scores()[4]).isCloseTo(1, within(1e-6f));
      assertThat(answer.scores()[0]).isBetween(0f, 1f);
      assertThat(PredictionJson.scores(answer).toJsonObject().getJsonArray("scores").getJsonArray(1)).hasSize(5);
    }
  }

  private static String reordered(List<Row> rows) {
    StringBuilder text = new StringBuilder();
    for (Row row : rows) {
      String[] values = row.csv().split(",");
      text.append(values[5]).append(',').append(values[3]).append(',').append(values[4]).append(',').append(values[2]).append('\n');
    }
    return text.toString();
  }

  /** Statistics are copied into the model, which then needs no other directory; another mean gives other scores. */
  @Test
  void aModelHoldsItsStatistics() throws Exception {
    List<Row> rows = write(dir.resolve("train.csv"));
    JobConfig job = job("wide_and_deep").withFeatures(Map.of("price",
        Settings.bind(new JsonObject("{\"kind\": \"number\"}"), FeatureConfig.class),
        "color", Settings.bind(new JsonObject("{\"kind\": \"id\"}"), FeatureConfig.class)));
    assertThatThrownBy(() -> LocalRun.run(job, null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll(dir.resolve("statistics-shop").toString(), "run ./regatta analyze");
    Path statistics = Files.createDirectories(dir.resolve("statistics-shop"));
    StatisticsFile.write(statistics, new TableStatistics(new TableStatistics.Facts(0, 0, Map.of()), new FeatureStatistics(
        Map.of("price", new NumberStatistics(5, 3, 0, 10)), Map.of(), Map.of()), RowSplit.Boundaries.NONE, List.of(), Map.of(),
        TableStatistics.Basis.UNKNOWN));
    LocalRun.run(job.withSnapshots(Settings.bind(new JsonObject("{\"every_pass\": true}"), SnapshotConfig.class)), null, Progress.none());
    assertThat(dir.resolve("model").resolve(StatisticsFile.NAME)).hasSameTextualContentAs(statistics.resolve(StatisticsFile.NAME));
    Files.writeString(statistics.resolve(StatisticsFile.NAME), Files.readString(statistics.resolve(StatisticsFile.NAME))
        .replace("\"mean\" : 5.0", "\"mean\" : 6.0"));
    assertThatThrownBy(() -> LocalRun.run(job.withResume("auto").withEpochs(9), null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("was taken with other features or statistics (digest ", "put back the job's features");
    Files.delete(statistics.resolve(StatisticsFile.NAME));
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      assertThat(predictor.predict(rows.subList(0, 5).stream().map(Row::json).toList()).get().scores()).hasSize(5);
    }
  }

  @Test
  void lacksAreNamedBeforeTraining() throws Exception {
    Path file = Files.writeString(dir.resolve("train.csv"), "bought,color\nyes,c1\n");
    assertThatThrownBy(() -> LocalRun.run(job("fm"), null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("train.csv", "size");
    Files.writeString(file, "bought,color,size,price,tags\n" + "yes,c1,1,cheap,t1\n".repeat(50));
    assertThatThrownBy(() -> LocalRun.run(job("fm"), null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("train.csv", "price", "cheap");
    Files.delete(file);
    assertThatThrownBy(() -> LocalRun.run(job("fm"), null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("train.csv does not exist", "data.files");
  }

  @Test
  void anotherProgramRefusesTheSections() throws Exception {
    write(dir.resolve("train.csv"));
    JobConfig other = job("fm").withProgram("io.regatta.program.DeepFm");
    assertThatThrownBy(() -> LocalRun.run(other, null, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("the section features is set, but io.regatta.program.DeepFm reads columns of its own; remove it");
  }
}
