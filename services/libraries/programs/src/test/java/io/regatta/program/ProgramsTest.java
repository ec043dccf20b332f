package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.SlotBatch;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.data.testing.DataSets;
import io.regatta.data.uci.Housing;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The built-in programs with the job files that come with Regatta, alone in this process. */
class ProgramsTest {

  @TempDir
  Path dir;

  private final List<String> lines = new ArrayList<>();
  private final List<String> phases = new ArrayList<>();

  @ParameterizedTest
  @ValueSource(strings = {"fit-a-line", "fit-a-line-converged", "census", "wide-and-deep", "ctr-dnn", "deepfm", "word2vec",
      "skip-gram", "logistic-regression", "lenet", "resnet50"})
  void jobFilesNameProgramsThatExist(String name) throws Exception {
    JobConfig job = Jobs.job(name);
    assertThat(job.job()).isEqualTo(name);
    assertThat(Class.forName(job.program()).getConstructor()).isNotNull();
  }

  @Test
  void quickStartPrintsALineEveryTenBatches() throws Exception {
    Path data = DataSets.directory("boston_housing");
    RunResult result = run("fit-a-line", "data.dir=" + data, "epochs=2");

    assertThat(lines).hasSize(11);
    assertThat(lines.get(0)).matches("Epoch: 0, Batch: 9, loss: [0-9.]+");
    assertThat(lines.get(9)).matches("Epoch: 1, Batch: 49, loss: [0-9.]+");
    assertThat(lines.get(10)).matches("time: read \\d+ %, pull \\d+ %, forward \\d+ %, backward \\d+ %, push \\d+ %, "
        + "other \\d+ %");
    assertThat(result.steps()).isEqualTo(102);
    assertThat(result.loss()).isLessThan(600);
  }

  @Test
  void convergedSettingsReachLeastSquares() throws Exception {
    Path data = DataSets.directory("boston_housing");
    RunResult result = run("fit-a-line-converged", "data.dir=" + data, "batch_size=102", "output=" + dir.resolve("model"));

    SlotBatch train = Housing.read(data.resolve("housing.data"), new BadLines(BadLines.Policy.FAIL)).train().table();
    double[] best = LeastSquares.fit(train);
    assertThat(LeastSquares.meanSquaredError(train, best)).isCloseTo(22.78, within(0.005));
    assertThat(result.loss()).isCloseTo(22.7784, within(0.01 * 22.7784));
    assertThat(distance(weights(dir.resolve("model")), best) / norm(best)).isLessThan(0.05);
  }

  @Test
  void censusReachesTheAucOfATunedModel() throws Exception {
    Path data = DataSets.directory("adult_census");
    RunResult result = run("census", "data.dir=" + data, "batch_size=128", "output=");

    assertThat(result.auc()).isGreaterThan(0.912);
    assertThat(result.accuracy()).isGreaterThan(0.85);
    assertThat(result.logloss()).isLessThan(0.31);
  }

  @Test
  void wideAndDeepMakesItsDataAndSavesItsModel() throws Exception {
    Path data = dir.resolve("criteo");
    Path output = dir.resolve("model");
    RunResult result = run("wide-and-deep", "data.dir=" + data, "output=" + output, "settings.train_rows=20000",
        "settings.test_rows=5000", "settings.hidden=16,8", "epochs=1", "max_steps=40");

    assertThat(GeneratedCriteo.in(data)).isNotNull();
    assertThat(lines).anyMatch(line -> line.contains("best possible test AUC 0."));
    assertThat(result.steps()).isEqualTo(40);
    assertThat(result.metrics()).containsKeys("best_auc", "bad_lines");
    assertThat(result.auc()).isBetween(0.4, 0.9);
    assertThat(result.model()).isEqualTo(output.toString());
    assertThat(output.resolve("manifest.json")).isRegularFile();
    assertThat(output.resolve("table-embedding.safetensors")).isRegularFile();
  }

  @Test
  void deepFmLearnsAndSavesBothTables() throws Exception {
    Path output = dir.resolve("model");
    RunResult result = run("deepfm", "data.dir=" + dir.resolve("criteo"), "output=" + output,
        "settings.train_rows=20000", "settings.test_rows=5000", "settings.hidden=16,8", "epochs=1");

    assertThat(result.auc()).as("0.5 untrained").isGreaterThan(0.58);
    assertThat(result.metrics()).containsKeys("train_auc", "mae", "rmse", "calibration");
    assertThat(result.metrics().get("calibration")).as("predicted to observed rate").isBetween(0.85, 1.15);
    assertThat(output.resolve("table-weights.safetensors")).isRegularFile();
    assertThat(output.resolve("table-embedding.safetensors")).isRegularFile();
  }

  /** Perplexity falls from pass to pass and ends above that of the chain that wrote the text. */
  @Test
  void word2vecLearnsALanguage() throws Exception {
    RunResult result = run("word2vec", "data.dir=" + dir.resolve("text"), "output=", "epochs=3",
        "settings.train_lines=3000", "settings.test_lines=300", "settings.min_count=1");

    List<Double> perplexities = lines.stream().filter(line -> line.startsWith("pass "))
        .map(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1))).toList();
    double best = result.metrics().get("best_perplexity");
    assertThat(perplexities).hasSize(3).isSortedAccordingTo(Comparator.reverseOrder());
    assertThat(perplexities.get(2)).isBetween(best, 4 * best);
    assertThat(result.metrics().get("perplexity")).isCloseTo(perplexities.get(2), within(0.01));
  }

  /** Without the warm-up these seeds end at 0.10 and 0.71. */
  @ParameterizedTest
  @ValueSource(longs = {1, 5})
  void lenetLearnsGeneratedDigitsWhateverTheSeed(long seed) throws Exception {
    assertThat(run("lenet", "trainers=1", "seed=" + seed, "output=").accuracy()).isGreaterThan(0.9);
  }

  @Test
  void behindTheLastStepThereIsOneTest() throws Exception {
    RunResult result = run("word2vec", "data.dir=" + dir.resolve("text"), "output=", "epochs=4", "max_steps=3", "batch_size=16",
        "settings.train_lines=300", "settings.test_lines=100", "settings.min_count=1");
    assertThat(result.steps()).isEqualTo(3);
    assertThat(result.loss()).isPositive();
    assertThat(lines).filteredOn(line -> line.contains("test loss")).singleElement().asString().startsWith("pass 0");
  }

  /** Four of five scores of the loss are of words that were not there; untrained all are 0. */
  @Test
  void skipGramsOfOneWordBecomeLikely() throws Exception {
    RunResult result = run("word2vec", "data.dir=" + dir.resolve("text"), "output=", "epochs=2", "settings.model=skipgram",
        "optimizer.learning_rate=0.01", "settings.train_lines=2000", "settings.test_lines=200", "settings.min_count=1",
        "settings.window=2", "settings.negatives=4", "settings.subsample=0");

    assertThat(result.loss()).as("5 ln 2 = 3.47 untrained").isLessThan(2.9);
  }

  /** Its softmax over two scores is the logistic function of their difference, so its log loss is the mean cross entropy. */
  @Test
  void ctrDnnTrainsTestsAndSaves() throws Exception {
    Path output = dir.resolve("model");
    RunResult result = run("ctr-dnn", "data.dir=" + dir.resolve("criteo"), "output=" + output, "batch_size=100",
        "settings.train_rows=20000", "settings.test_rows=5000", "settings.hidden=16,8", "epochs=1", "max_steps=200");

    assertThat(result.steps()).isEqualTo(200);
    assertThat(result.auc()).as("0.5 untrained").isGreaterThan(0.58);
    assertThat(result.logloss()).as("ln 2 untrained").isLessThan(0.62);
    assertThat(Safetensors.floats(output.resolve("dense.safetensors")).values()).extracting(values -> values.length)
        .containsExactlyInAnyOrder(273 * 16, 16, 16 * 8, 8, 8 * 2, 2);
  }

  @Test
  void wholeFilesCanBeDealtOut() throws Exception {
    RunResult result = run("wide-and-deep", "data.dir=" + dir.resolve("criteo"), "output=", "threads=2", "epochs=1",
        "settings.train_rows=8000", "settings.test_rows=1000", "settings.hidden=8,4", "data.shard_by=file");

    assertThat(result.examples()).isEqualTo(2 * (4000 / 256) * 256);
    assertThatThrownBy(() -> run("wide-and-deep", "data.dir=" + dir.resolve("other"), "threads=2",
        "settings.train_rows=2000", "settings.test_rows=1000", "settings.train_files=1", "data.shard_by=file"))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("only 1 training files for 2 workers");
  }

  /** The same examples, but for hashing, which sh has not: ids are the values' first digits. */
  @ParameterizedTest
  @ValueSource(strings = {"queue", "in_memory"})
  void paddlesDatasetsReadWhatACommandMakesOfFiles(String reading) throws Exception {
    String command = "awk -F'\\t' '{printf \"13\"; for (i = 2; i <= 14; i++) printf \" %s\", ($i == \"\" ? 0 : $i / 1000); "
        + "for (i = 15; i <= 40; i++) printf \" 1 %d\", 100 * i + length($i); print \" 1 \" $1}'";
    RunResult result = run("ctr-dnn", "data.dir=" + dir.resolve("criteo"), "output=", "threads=2", "epochs=1",
        "batch_size=100", "settings.train_rows=4000", "settings.test_rows=1000", "settings.hidden=8,4",
        "data.pipe_command=" + command, "data.reading=" + reading, "data.shard_by=file_modulo", "data.reader_threads=2",
        "data.drop_last=false", "data.shuffle_buffer=0", "data.global_shuffle=" + reading.equals("in_memory"));

    assertThat(result.examples()).isEqualTo(4000);
    assertThat(result.auc()).isBetween(0.4, 0.9);
  }

  @Test
  void missingDataIsOneClearLine() throws Exception {
    Files.writeString(Files.createDirectory(dir.resolve("nowhere")).resolve("notes.txt"), "nothing is generated beside it");
    assertThatThrownBy(() -> run("census", "data.dir=" + dir.resolve("nowhere"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("adult.data").hasMessageContaining("does not exist");
    assertThatThrownBy(() -> run("census", "data.dir=")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("data.dir is missing");
  }

  /** The weights of the only layer of a saved model. */
  private static double[] weights(Path model) throws IOException {
    Map<String, float[]> tensors = Safetensors.floats(model.resolve("dense.safetensors"));
    float[] values = tensors.entrySet().stream().filter(e -> e.getKey().endsWith("weight")).findFirst().orElseThrow()
        .getValue();
    return IntStream.range(0, values.length).mapToDouble(k -> values[k]).toArray();
  }

  private static double distance(double[] weights, double[] best) {
    double[] difference = weights.clone();
    for (int i = 0; i < difference.length; i++) {
      difference[i] -= best[i];
    }
    return norm(difference);
  }

  /** Returns the norm of the 13 weights, without the bias. */
  private static double norm(double[] weights) {
    return Math.sqrt(Arrays.stream(weights, 0, 13).map(w -> w * w).sum());
  }

  /** Two of ten passes of ten steps are trained, the second in part. */
  @ParameterizedTest
  @ValueSource(ints = {12, 10})
  void doesNotShowPassesOrTestsAfterMaxSteps(int steps) throws Exception {
    RunResult result = run("lenet", "trainers=1", "output=", "epochs=10", "batch_size=32", "settings.train_images=320",
        "settings.test_images=40", "data.shuffle_buffer=0", "max_steps=" + steps);
    assertThat(result.steps()).isEqualTo(steps);
    assertThat(phases).filteredOn("train"::equals).hasSize(steps > 10 ? 2 : 1);
    assertThat(phases).filteredOn("test"::equals).hasSize(steps > 10 ? 2 : 1);
    assertThat(lines).filteredOn(line -> line.startsWith("pass ")).hasSize(steps > 10 ? 2 : 1);
  }

  private RunResult run(String config, String... overrides) throws Exception {
    return LocalRun.run(Jobs.job(config, overrides), null, new Lines());
  }

  /** Keeps the lines that a program prints. */
  private final class Lines implements Progress {
    @Override
    public void begin(String phase, long examples) {
      phases.add(phase);
    }

    @Override
    public void line(String text) {
      lines.add(text);
    }
  }
}
