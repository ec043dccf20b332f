package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.run.LocalCompute;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.save.SavedParameters;
import io.regatta.training.session.LocalSession;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every model of a job file, alone, in sync, async and with heter workers, and every kind of label. */
class TabularModelsTest {

  /** The most by which a parameter may differ between ranks that compute a batch together and one process. */
  private static final double SAME_BATCH = 1e-6;
  private static final int ROWS = 2000;
  private static final String BINARY = "\"y\": {}";
  private static final String PAIR = ", \"user\": [\"a\"], \"item\": [\"b\"]";

  @TempDir
  static Path dir;

  /** Writes rows of users a, items b, a number x, a history h of items, and labels of all kinds. */
  @BeforeAll
  static void rows() throws Exception {
    Random random = new Random(8);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < ROWS; i++) {
      int a = random.nextInt(6);
      int b = random.nextInt(6);
      double x = random.nextGaussian();
      int y = random.nextInt(6) < a ? 1 : 0;
      text.append(new JsonObject().put("a", "v" + a).put("b", b).put("x", x).put("h", "" + b + "|" + a).put("y", y)
          .put("z", y == 1 && random.nextBoolean() ? 1 : 0).put("part", random.nextInt(3) == 0 ? null : a > b ? 1 : 0)
          .put("word", List.of("low", "middle", "high").get(a / 2)).put("sum", a + 0.5 * b + x).put("count", a)
          .put("query", i / 8).put("place", "p" + b % 2).encode()).append('\n');
    }
    Files.writeString(dir.resolve("train.json"), text);
  }

  private static JobConfig job(String model, String labels, String more) {
    String bound = model.contains("logistic") ? "" : ", \"embedding_bound\": 0.3";
    return JobConfig.of(new JsonObject("""
        {"job": "t", "max_steps": 12, "data": {"dir": "DIR", "format": "json", "test": {"share": 0.2, "by": "hash"}},
         "optimizer": {"kind": "sgd", "learning_rate": 0.1}, "labels": {LABELS},
         "features": {"a": {"kind": "id"}, "b": {"kind": "id"}, "x": {"kind": "number", "scale": "none"},
           "h": {"kind": "sequence", "max": 3, "table": "b"}},
         "model": {MODEL} MORE}""".replace("DIR", dir.toString()).replace("LABELS", labels).replace("MODEL", model + bound)
        .replace("MORE", more)));
  }

  private static String kind(String kind) {
    return "\"kind\": \"" + kind + "\"";
  }

  /** Models and their labels; the loss of each example stands alone. */
  static Stream<String[]> models() {
    Stream<String[]> plain = Stream.of("logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2", "dlrm", "din")
        .map(kind -> new String[] {kind(kind), BINARY});
    return Stream.concat(plain, Stream.of(
        new String[] {kind("mmoe"), BINARY + ", \"part\": {\"weight\": 0.5, \"missing\": \"mask\"}"},
        new String[] {kind("esmm"), BINARY + ", \"z\": {}"},
        new String[] {kind("matrix_factorization") + PAIR, "\"sum\": {\"kind\": \"number\"}"},
        new String[] {kind("deepfm"), "\"word\": {\"kind\": \"classes\", \"classes\": [\"low\", \"middle\", \"high\"]}, "
            + "\"count\": {\"kind\": \"number\", \"loss\": \"poisson\"}"}));
  }

  /** Models whose loss compares the examples of a batch. */
  static Stream<String[]> coupled() {
    return Stream.of(new String[] {kind("two_towers") + PAIR, BINARY},
        new String[] {kind("wide_and_deep"), "\"count\": {\"kind\": \"rank\", \"group\": \"query\"}"},
        new String[] {kind("dcn_v2"), "\"count\": {\"kind\": \"rank\", \"group\": \"query\", \"loss\": \"listwise\"}"});
  }

  private static RunResult alone(String[] model, String more) {
    return LocalRun.run(job(model[0], model[1], more), null, Progress.none());
  }

  private static List<RunResult> ranks(String[] model, String more) {
    try (SharedShards shards = new SharedShards(job(model[0], model[1], more))) {
      return shards.run(null);
    }
  }

  private static String saved(String name) {
    return ", \"output\": \"" + dir.resolve(name) + "\"";
  }

  private static double distance(String one, String other) {
    SavedParameters a = SavedParameters.read(dir.resolve(one));
    SavedParameters b = SavedParameters.read(dir.resolve(other));
    assertThat(a.sameRows(b)).isTrue();
    return a.distance(b);
  }

  @ParameterizedTest
  @MethodSource("models")
  void twoRanksInSyncAreOneWithTwiceTheBatch(String kind, String labels) {
    String[] model = {kind, labels};
    RunResult one = alone(model, ", \"batch_size\": 100" + saved("one"));
    List<RunResult> two = ranks(model, ", \"batch_size\": 50, \"trainers\": 2, \"shards\": 2" + saved("two"));
    assertThat(two.get(0).examples()).isEqualTo(one.examples()).isEqualTo(1200L);
    assertThat(distance("one", "two")).isLessThanOrEqualTo(SAME_BATCH);
    assertThat(two.get(1).metrics()).as("metrics are merged").isEqualTo(two.get(0).metrics());
    one.metrics().forEach((name, value) -> {
      if (!name.contains("[") && !name.startsWith("batch_") && !name.startsWith("train_")) {
        assertThat(two.get(0).metrics().get(name)).as(name).isCloseTo(value, within(2e-3 * Math.max(1, Math.abs(value))));
      }
    });
  }

  @ParameterizedTest
  @MethodSource({"models", "coupled"})
  void ranksInAsyncLearnAsOneAlone(String kind, String labels) {
    String[] model = {kind, labels};
    RunResult one = alone(model, ", \"batch_size\": 100");
    List<RunResult> async = ranks(model, ", \"batch_size\": 50, \"mode\": \"async\", \"trainers\": 2, \"shards\": 2, "
        + "\"optimizer\": {\"kind\": \"sgd\", \"learning_rate\": 0.05}"); // twice as many updates
    assertThat(async.get(0).loss()).isFinite().isLessThan(1.2 * one.loss() + 0.1);
    assertThat(async.get(1).metrics()).as("metrics are merged").isEqualTo(async.get(0).metrics());
  }

  @ParameterizedTest
  @MethodSource("coupled")
  void oneRankInSyncIsOneAlone(String kind, String labels) {
    String[] model = {kind, labels};
    RunResult one = alone(model, ", \"batch_size\": 100" + saved("lone"));
    List<RunResult> sync = ranks(model, ", \"batch_size\": 100, \"shards\": 2" + saved("sync"));
    assertThat(distance("lone", "sync")).isLessThanOrEqualTo(SAME_BATCH);
    assertThat(sync.get(0).metrics()).isEqualTo(one.metrics());
    List<RunResult> two = ranks(model, ", \"batch_size\": 50, \"trainers\": 2");
    assertThat(two.get(1).metrics()).as("metrics are merged").isEqualTo(two.get(0).metrics());
  }

  @ParameterizedTest
  @ValueSource(strings = {"dlrm", "din", "mmoe", "two_towers"})
  void givesTheSameBits_whenAHeterWorkerComputesItsPart(String kind) throws Exception {
    String[] model = {kind(kind) + (kind.equals("two_towers") ? PAIR + ", \"frequency_rate\": 0" : ""), BINARY};
    RunResult whole = alone(model, heter(0));
    JobConfig job = job(model[0], model[1], heter(1));
    LocalCompute compute = new LocalCompute(job, null).start();
    RunResult cut;
    try (compute) {
      cut = LocalRun.run(new LocalSession(job, compute), null, Progress.none(), null, GpuAssignment.NONE);
    }
    compute.ended().join();
    assertThat(cut.parametersHash()).isNotEmpty().isEqualTo(whole.parametersHash());
    assertThat(cut.loss()).isEqualTo(whole.loss());
  }

  private static String heter(int workers) {
    return ", \"heter\": {\"workers\": " + workers + ", \"part\": \"dense\", \"seed_batches\": true}";
  }

  @Test
  void refusesTheCorrectionOfFrequenciesWithHeterWorkers() {
    JobConfig job = job(kind("two_towers") + PAIR, BINARY, heter(1));
    assertThatThrownBy(() -> new TabularProgram().check(job)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("set model.frequency_rate: 0");
    JobConfig large = job(kind("two_towers") + PAIR, BINARY, ", \"batch_size\": 10000");
    assertThatThrownBy(() -> new TabularProgram().check(large)).isInstanceOf(InvalidInput.class).hasMessageContaining("batch_size is 10000");
  }

  @Test
  void whatItLearnsShowsInTheMetricsOfEachLabel() {
    String more = ", \"epochs\": 3, \"max_steps\": 0, \"batch_size\": 100, \"metrics\": {\"slices\": [\"place\"], \"gauc\": \"query\"}, "
        + "\"optimizer\": {\"kind\": \"adam\", \"learning_rate\": 0.02}";
    Map<String, Double> several = alone(new String[] {kind("deepfm"), BINARY + ", \"word\": {\"kind\": \"classes\", "
        + "\"classes\": [\"low\", \"middle\", \"high\"]}, \"sum\": {\"kind\": \"number\"}"}, more).metrics();
    assertThat(several.get("word.accuracy")).isGreaterThan(0.99);
    assertThat(several.get("word.macro_f1")).isGreaterThan(0.99);
    assertThat(several.get("sum.r2")).isGreaterThan(0.9);
    assertThat(several.get("y.auc")).isGreaterThan(0.75);
    assertThat(several).containsKeys("y.gauc", "y.auc[place=p0]", "sum.rmse[place=p1]", "word.confusion[low as high]", "y.calibration_error");
    assertThat(several.get("examples[place=p0]") + several.get("examples[place=p1]")).isBetween(300.0, 500.0);
    Map<String, Double> ranked = alone(new String[] {kind("wide_and_deep"), "\"count\": {\"kind\": \"rank\", \"group\": \"query\"}"},
        more.replace(", \"gauc\": \"query\"", "")).metrics();
    assertThat(ranked.get("ndcg@5")).isGreaterThan(0.99);
    Map<String, Double> retrieved = alone(new String[] {kind("two_towers") + PAIR, "\"y\": {}"}, more.replace("\"slices\": [\"place\"], "
        + "\"gauc\": \"query\"", "\"recall\": [1, 6]")).metrics();
    assertThat(retrieved).containsEntry("recall@6", 1.0).containsEntry("recall_items", 6.0);
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', quoteCharacter = '#', value = {
      "'kind': 'esmm' | 'y': {} | esmm has two binary labels",
      "'kind': 'matrix_factorization', 'user': ['a'], 'item': ['h'] | 'y': {} | takes one feature with one id",
      "'kind': 'matrix_factorization', 'user': ['a'] | 'y': {} | item is missing",
      "'kind': 'two_towers', 'user': ['a'], 'item': ['nobody'] | 'y': {} | model.item begins with 'nobody'",
      "'kind': 'two_towers', 'user': ['a'], 'item': ['b'] | 'y': {}, 'z': {} | one label of kind binary or number",
      "'kind': 'deepfm', 'experts': 3 | 'y': {} | experts has no effect on kind deepfm",
      "'kind': 'deepfm' | 'y': {'classes': ['a', 'b']} | classes has no effect on kind binary",
      "'kind': 'deepfm' | 'y': {'kind': 'classes', 'classes': ['a']} | a label has at least 2",
      "'kind': 'deepfm' | 'x': {'kind': 'number'} | reads the column x of the label"})
  void refusesWhatDoesNotFit(String model, String labels, String words) {
    assertThatThrownBy(() -> new TabularProgram().check(job(model.replace('\'', '"'), labels.replace('\'', '"'), "")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining(words);
  }
}
