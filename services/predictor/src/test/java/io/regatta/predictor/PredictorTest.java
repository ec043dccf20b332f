package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.TextSource;
import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.program.CtrDnn;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.run.LocalRun;
import io.regatta.training.save.SavedParameters;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PredictorTest {

  private static final int BATCH = 1000;
  private static final int EXAMPLES = 10_000;

  @TempDir
  static Path dir;

  private static Path data;
  /** The trainer's own scores of the test examples. */
  private static final List<float[]> TRAINERS = new ArrayList<>();

  /** A few steps of CTR-DNN, then its scores of the test data, then the model. */
  private static final class Trained implements TrainingProgram {
    private final GeneratedCriteo made;

    Trained(GeneratedCriteo made) {
      this.made = made;
    }

    @Override
    public void run(Worker worker) throws Exception {
      CtrDnn program = new CtrDnn();
      JobConfig job = worker.job();
      worker.settings(program.settings());
      BadLines fail = new BadLines(BadLines.Policy.FAIL);
      try (SlotDataset train = new SlotDataset(new TextSource(program.input(job), made.train(data), fail),
              LoaderOptions.inOrder(200));
          SlotDataset test = new SlotDataset(new TextSource(program.input(job), List.of(made.test(data)), fail),
              LoaderOptions.inOrder(BATCH));
          Model model = Model.newInstance("ctr-dnn")) {
        model.setBlock(program.network(job));
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss("loss")).optOptimizer(worker.optimizer()))) {
          trainer.initialize(SlotArrays.shapes(train.layout(), 200));
          worker.trainFromDataset(trainer, train, null, 10, false);
          for (Batch batch : trainer.iterateDataset(test)) {
            try (batch) {
              TRAINERS.add(program.scores(trainer.evaluate(batch.getData()).singletonOrThrow()));
            }
          }
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  @BeforeAll
  static void train() {
    data = dir.resolve("data");
    GeneratedCriteo made = CriteoGenerator.ensure(data, new CriteoGenerator.Size(3, 4000, EXAMPLES, 1));
    JobConfig job = JobConfig.of(new JsonObject().put("job", "served").put("program", CtrDnn.class.getName())
        .put("output", dir.resolve("model").toString()).put("compute_threads", 1)
        .put("optimizer", new JsonObject().put("kind", "adagrad").put("learning_rate", 0.05))
        .put("settings", new JsonObject().put("hidden", new JsonArray().add(16).add(8)).put("id_space", 100_000)));
    LocalRun.run(job, new Trained(made), Progress.none());
  }

  private static List<String> lines() throws Exception {
    return Files.readAllLines(data.resolve("test.tsv"));
  }

  /** A small request must not become gigabytes. */
  @Test
  void a_request_of_very_many_lines_is_refused_before_they_are_read() {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      byte[] text = "x\n".repeat(4 << 20).getBytes(StandardCharsets.US_ASCII);
      assertThat(predictor.predict(text)).failsWithin(Duration.ofSeconds(30)).withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(InvalidInput.class).withMessageContaining("4194304 examples").withMessageContaining("at a time");
    }
  }

  @Test
  void predictsWhatTheTrainerWould() throws Exception {
    List<String> lines = lines();
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      assertThat(predictor.source()).extracting(Predictor.Source::dir, Predictor.Source::step).containsExactly(dir.resolve("model"), 20L);
      assertThat(predictor.source().run()).matches("[0-9a-f]{16}");
      List<CompletableFuture<Predictor.Prediction>> answers = new ArrayList<>();
      for (int from = 0; from < EXAMPLES; from += BATCH) {
        answers.add(predictor.predict(lines.subList(from, from + BATCH)));
      }
      for (int b = 0; b < answers.size(); b++) {
        assertThat(answers.get(b).get().scores()).containsExactly(TRAINERS.get(b), within(1e-6f));
      }
      assertThat(predictor.predict(List.of()).get().scores()).isEmpty();
    }
    assertThat(TRAINERS).hasSize(EXAMPLES / BATCH);
    assertThat(TRAINERS.get(0)[0]).isNotEqualTo(TRAINERS.get(0)[1]);
  }

  @Test
  void stockDjlLoadsTheSameParameters() throws Exception {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "served")
        .put("settings", new JsonObject().put("hidden", new JsonArray().add(16).add(8)).put("id_space", 100_000)));
    try (Model stock = Model.newInstance("model"); Predictor predictor = Predictor.load(dir.resolve("model"))) {
      Block block = new CtrDnn().network(job);
      stock.setBlock(block);
      stock.load(dir.resolve("model"), "model");
      Block fresh = new CtrDnn().network(job);
      fresh.initialize(stock.getNDManager(), DataType.FLOAT32, SlotArrays.shapes(predictor.layout(), 1));
      assertThat(block.getParameters().keys()).isEqualTo(fresh.getParameters().keys());
      for (Pair<String, Parameter> p : block.getParameters()) {
        float[] saved = SavedParameters.read(dir.resolve("model")).dense().get(p.getKey());
        assertThat(p.getValue().getArray().toFloatArray()).isEqualTo(saved);
      }
    }
  }

  @Test
  void aBadLineFailsItsRequestAlone() throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      CompletableFuture<Predictor.Prediction> bad = predictor.predict(List.of(lines().get(0), "1\t2"));
      assertThatThrownBy(bad::get).hasCauseInstanceOf(InvalidInput.class).hasMessageContaining("request, line 2");
      assertThat(predictor.predict(lines().subList(0, 1)).get().scores()).hasSize(1);
    }
  }

  @Test
  void whatIsNoModelIsRefused() throws Exception {
    assertThatThrownBy(() -> Predictor.load(dir.resolve("nothing"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("nothing");
    Path damaged = dir.resolve("damaged");
    Files.createDirectories(damaged);
    for (String file : dir.resolve("model").toFile().list()) {
      Files.copy(dir.resolve("model").resolve(file), damaged.resolve(file));
    }
    byte[] table = Files.readAllBytes(damaged.resolve("table-embedding.safetensors"));
    table[table.length / 2] ^= 1;
    Files.write(damaged.resolve("table-embedding.safetensors"), table);
    assertThatThrownBy(() -> Predictor.load(damaged)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("table-embedding.safetensors");
  }

  @Test
  void afterItsEndItAnswersNobody() throws Exception {
    Predictor predictor = Predictor.load(dir.resolve("model"));
    predictor.close();
    assertThatThrownBy(() -> predictor.predict(lines().subList(0, 1)).get()).hasMessageContaining("closed");
  }
}
