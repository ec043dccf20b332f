package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.XxHash64;
import io.regatta.core.progress.Progress;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** L2, weights of positive examples and negative sampling, each against what calculus says of a logistic regression. */
class RegularizationTest {

  @TempDir
  Path dir;

  /** A logistic regression over a number and an id, by plain gradient descent. */
  private JobConfig job(String more) {
    return JobConfig.of(new JsonObject("""
        {"job": "shop", "epochs": 800, "batch_size": 100, "optimizer": {"kind": "sgd", "learning_rate": 1},
         "data": {"dir": "DIR", "files": ["train.csv"], "test_files": ["train.csv"]},
         "labels": {"y": {}}, "features": {"x": {"kind": "number", "scale": "none", "missing": "none"}, "c": {"kind": "id"}},
         "model": {"kind": "logistic_regression"}, "output": "DIR/model"}""".replace("DIR", dir.toString())).mergeIn(new JsonObject(more), true));
  }

  private void write(String rows) throws IOException {
    Files.writeString(dir.resolve("train.csv"), "y,x,c\n" + rows);
  }

  private float dense(String part) throws IOException {
    return Safetensors.floats(dir.resolve("model/dense.safetensors")).entrySet().stream().filter(each -> each.getKey().endsWith(part))
        .findFirst().orElseThrow().getValue()[0];
  }

  /** Returns the weights of the table by id. */
  private Map<Long, Float> weights() throws IOException {
    Path table = dir.resolve("model/table-weights.safetensors");
    long[] ids = Safetensors.longs(table, "ids");
    float[] values = Safetensors.floats(table).get("values");
    Map<Long, Float> weights = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      weights.put(ids[i], values[i]);
    }
    return weights;
  }

  private static long id(String value) {
    return hash(value, hash("c", 0));
  }

  private static long hash(String text, long seed) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return XxHash64.of(bytes, 0, bytes.length, seed);
  }

  private static double sigmoid(double x) {
    return 1 / (1 + Math.exp(-x));
  }

  /** At the minimum, λ·w is the mean of (label − probability)·input, for the weight of a number and for a row of a table. */
  @Test
  void when_l2_is_given_then_the_gradient_vanishes_where_its_closed_form_does() throws IOException {
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      rows.append(i % 4 == 0 || i % 10 == 3 ? 1 : 0).append(',').append(i % 5 - 2).append(',').append(i % 3 == 0 ? "a" : "b").append('\n');
    }
    write(rows.toString());
    double lambda = 0.05;
    LocalRun.run(job("{\"model\": {\"regularization\": {\"l2_linear\": 0.05}}}"), null, Progress.none());
    double w = dense("dense_weights");
    double bias = dense("bias");
    Map<Long, Float> table = weights();
    double ofNumber = 0;
    double ofA = 0;
    double ofBias = 0;
    for (int i = 0; i < 40; i++) {
      double label = i % 4 == 0 || i % 10 == 3 ? 1 : 0;
      double error = label - sigmoid(bias + w * (i % 5 - 2) + table.get(id(i % 3 == 0 ? "a" : "b")));
      ofNumber += error * (i % 5 - 2) / 40;
      ofA += i % 3 == 0 ? error / 40 : 0;
      ofBias += error / 40;
    }
    assertThat(ofNumber).isCloseTo(lambda * w, within(1e-5)).isNotCloseTo(0, within(1e-3));
    assertThat(ofA).isCloseTo(lambda * table.get(id("a")), within(1e-5)).isNotCloseTo(0, within(1e-3));
    assertThat(ofBias).isCloseTo(0, within(1e-5));
  }

  /** Each row of the table is in one batch of three: it decays once. */
  @Test
  void when_a_batch_does_not_name_a_row_then_its_l2_leaves_the_row() throws IOException {
    write("1,0,a\n1,0,a\n0,0,b\n0,0,b\n1,0,b\n1,0,c\n");
    RunResult result = LocalRun.run(job("{\"epochs\": 2, \"batch_size\": 2, \"model\": {\"regularization\": {\"l2_linear\": 0.5}}}"), null,
        Progress.none());
    assertThat(result.steps()).isEqualTo(6);
    double bias = 0;
    double[] w = new double[3];
    int[][] batches = {{0, 0}, {1, 1}, {1, 2}};
    double[][] labels = {{1, 1}, {0, 0}, {1, 1}};
    for (int step = 0; step < 6; step++) {
      int[] of = batches[step % 3];
      double[] gradient = new double[3];
      double ofBias = 0;
      for (int i = 0; i < 2; i++) {
        double error = sigmoid(bias + w[of[i]]) - labels[step % 3][i];
        gradient[of[i]] += error / 2;
        ofBias += error / 2;
      }
      for (int row = 0; row < 3; row++) {
        w[row] -= of[0] == row || of[1] == row ? gradient[row] + 0.5 * w[row] : 0;
      }
      bias -= ofBias;
    }
    Map<Long, Float> table = weights();
    assertThat(table.get(id("a"))).isCloseTo((float) w[0], within(1e-5f));
    assertThat(table.get(id("b"))).isCloseTo((float) w[1], within(1e-5f));
    assertThat(table.get(id("c"))).isCloseTo((float) w[2], within(1e-5f));
  }

  /** The minimum of w·P positive and N negative equal rows is the probability w·P / (w·P + N). */
  @Test
  void when_positive_rows_weigh_more_then_the_probability_is_that_of_so_many_rows() throws IOException {
    write("1,0,a\n0,0,a\n0,0,a\n0,0,a\n0,0,a\n");
    LocalRun.run(job("{\"epochs\": 300, \"labels\": {\"y\": {\"positive_weight\": 3}}}"), null, Progress.none());
    assertThat(sigmoid(dense("bias") + weights().get(id("a")))).isCloseTo(3.0 / 7, within(1e-4));
  }

  /** A tenth of the negative rows are trained on; the mean probability is nevertheless that of all rows. */
  @Test
  void when_negative_rows_are_sampled_then_predictions_are_those_of_all_rows() throws IOException {
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < 4000; i++) {
      rows.append(i % 20 == 0 ? 1 : 0).append(",0,").append("a\n");
    }
    write(rows.toString());
    RunResult result = LocalRun.run(job("{\"epochs\": 60, \"optimizer\": {\"learning_rate\": 0.1}, \"labels\": {\"y\": {\"negative_rate\": 0.1}}}"), null, Progress.none());
    assertThat(result.examples() / 60.0).isCloseTo(200 + 380, within(25.0));
    assertThat(sigmoid(dense("bias") + weights().get(id("a")))).as("of the rows that were trained on").isCloseTo(200.0 / 580, within(0.04));
    assertThat(result.metric("calibration")).isCloseTo(1, within(0.12));
    assertThat(result.logloss()).isCloseTo(-0.05 * Math.log(0.05) - 0.95 * Math.log(0.95), within(0.002));
  }

  @Test
  void when_a_key_has_no_effect_on_the_network_then_it_is_refused() {
    assertThatThrownBy(() -> job("{\"model\": {\"regularization\": {\"l2_deep\": 0.1}}}")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("regularization.l2_deep has no effect on kind logistic_regression");
    assertThatThrownBy(() -> job("{\"labels\": {\"y\": {\"negative_rate\": 0}}}")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("negative_rate must be more than 0");
  }
}
