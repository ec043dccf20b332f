package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Early stopping by validation rows, alone and with several trainers, and after a resume. */
class EarlyStoppingJobTest {

  private static final int ROWS = 1500;
  private static final int TESTED = 500;

  @TempDir
  Path dir;
  private Path job;

  /** Writes a table with a column that can only be learned by heart. */
  @BeforeEach
  void table() throws IOException {
    Random random = new Random(3);
    Files.createDirectories(dir.resolve("data"));
    StringBuilder rows = new StringBuilder("click,color,visitor\n");
    StringBuilder tested = new StringBuilder(rows);
    for (int i = 0; i < ROWS + TESTED; i++) {
      int color = random.nextInt(6);
      boolean click = random.nextDouble() < 1 / (1 + Math.exp(2 - color));
      (i < ROWS ? rows : tested).append(click ? 1 : 0).append(",c").append(color).append(",v").append(random.nextInt(400)).append('\n');
    }
    Files.writeString(dir.resolve("data/rows.csv"), rows);
    Files.writeString(dir.resolve("data/test.csv"), tested);
    job = Files.writeString(dir.resolve("clicks.yaml"), """
        job: clicks
        mode: sync
        servers: 1
        trainers: 2
        epochs: 20
        batch_size: 50
        compute_threads: 1
        optimizer: {kind: adam, learning_rate: 0.02}
        data: {dir: %s, files: [rows.csv], test_files: [test.csv], validation: {share: 0.3, by: hash}, shuffle_buffer: 2000}
        early_stopping: {metric: logloss, patience: 2}
        labels: {click: {kind: binary}}
        features: {color: {kind: id}, visitor: {kind: id}}
        model: {kind: deepfm, embedding: 4, hidden: [16], dropout: 0.2}
        output: %s
        """.formatted(dir.resolve("data"), dir.resolve("model")));
  }

  private JsonObject run(String command, String... settings) throws IOException {
    Path result = dir.resolve("result.json");
    List<String> args = new ArrayList<>(List.of(command, job.toString(), "--result", result.toString()));
    if (command.equals("train")) {
      args.add(1, "--local");
    }
    Arrays.stream(settings).forEach(setting -> args.addAll(List.of("--set", setting)));
    CommandLineRun run = CommandLineRun.regatta(args.toArray(String[]::new));
    assertThat(run.status()).as(run.toString()).isZero();
    return new JsonObject(Files.readString(result));
  }

  private static double validation(JsonArray evaluations, int at, String metric) {
    return evaluations.getJsonObject(at).getJsonObject("validation").getDouble(metric);
  }

  /** Checks that training ended by the rule, and that the model and the metrics are those of the best evaluation. */
  private void requireBest(JsonObject result) {
    JsonArray evaluations = result.getJsonArray("evaluations");
    int best = evaluations.size() - 3;
    assertThat(evaluations).hasSizeBetween(3, 12);
    for (int i = 0; i < evaluations.size(); i++) {
      assertThat(validation(evaluations, best, "logloss")).isLessThanOrEqualTo(validation(evaluations, i, "logloss"));
    }
    JsonObject test = evaluations.getJsonObject(best).getJsonObject("test");
    assertThat(result.getDouble("auc")).isEqualTo(test.getDouble("auc"));
    CommandLineRun predict = CommandLineRun.regatta("predict", "--model", dir.resolve("model").toString(), "--metrics",
        dir.resolve("data/test.csv").toString());
    String line = predict.err().lines().filter(l -> l.startsWith("auc ")).findFirst().orElseThrow();
    assertThat(Double.parseDouble(line.split("[ ,]+")[1])).isCloseTo(test.getDouble("auc"), within(1e-4));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sync", "async"})
  void when_the_validation_loss_rises_then_training_ends_and_the_best_model_is_saved(String mode) throws IOException {
    requireBest(run("simulate", "mode=" + mode));
  }

  @Test
  void when_a_job_runs_alone_then_it_ends_by_the_same_rule_and_evaluates_within_passes() throws IOException {
    JsonObject result = run("train", "data.validation.every_steps=5");
    requireBest(result);
    JsonObject first = result.getJsonArray("evaluations").getJsonObject(0);
    assertThat(first.getLong("step")).isEqualTo(5);
    assertThat(first.getJsonObject("train").getDouble("auc")).isBetween(0.4, 0.8);
  }

  @Test
  void when_trainers_evaluate_within_passes_then_the_parameters_are_those_of_a_run_without() throws IOException {
    String hash = run("simulate", "early_stopping.metric=", "epochs=2").getString("parameters_hash");
    JsonObject often = run("simulate", "early_stopping.metric=", "epochs=2", "data.validation.every_steps=3");
    assertThat(often.getString("parameters_hash")).isEqualTo(hash);
    assertThat(often.getJsonArray("evaluations")).hasSizeGreaterThan(5);
  }

  /** Returns the evaluations without metrics of training: those of the pass in which a run resumes begin there. */
  private static List<JsonObject> withoutTrain(JsonObject result) {
    List<JsonObject> evaluations = new ArrayList<>();
    result.getJsonArray("evaluations").forEach(each -> evaluations.add(((JsonObject) each).copy()));
    evaluations.forEach(each -> each.remove("train"));
    return evaluations;
  }

  /** The run is broken off in the pass in which it would have ended, after the best model was saved. */
  @Test
  void when_a_run_is_resumed_then_it_ends_as_an_unbroken_one() throws IOException {
    JsonObject whole = run("simulate", "snapshots.every_steps=4", "data.validation.every_steps=4");
    long last = whole.getLong("steps");
    String model = Files.readString(dir.resolve("model/manifest.json"));
    String again = "output=" + dir.resolve("again");
    JsonObject first = run("simulate", again, "snapshots.every_steps=4", "data.validation.every_steps=4", "max_steps=" + (last - 2));
    JsonObject resumed = run("simulate", again, "snapshots.every_steps=4", "data.validation.every_steps=4", "resume=auto");
    assertThat(first.getJsonArray("evaluations").size()).isGreaterThan(2);
    assertThat(withoutTrain(resumed)).isEqualTo(withoutTrain(whole));
    assertThat(resumed.getString("parameters_hash")).isEqualTo(whole.getString("parameters_hash"));
    assertThat(resumed.getDouble("auc")).isEqualTo(whole.getDouble("auc"));
    assertThat(new JsonObject(Files.readString(dir.resolve("again/manifest.json"))).getString("parameters_hash"))
        .isEqualTo(new JsonObject(model).getString("parameters_hash"));
  }
}
