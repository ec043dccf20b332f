package io.regatta.training.result;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The metrics and the examples of a run in its result. */
class RunSummaryTest {

  /** A run whose last life took ten seconds. */
  private static RunResult run(long examples, long resumed, long repeated) {
    RunResult run = LocalRun.run(JobConfig.of(new JsonObject().put("job", "brief")), worker -> { }, Progress.none());
    return new RunResult(run.job(), run.mode(), run.servers(), run.trainers(), run.threads(), run.shards(), run.seed(),
        run.rank(), run.steps(), examples, 10, run.exchange(), run.processIds(), run.model(),
        run.parametersHash(), run.metrics(), run.examplesPerSecondByRank(), run.losses(), resumed, repeated,
        run.evaluations(), run.nothingLeft());
  }

  @Test
  void when_metrics_are_reported_then_four_of_them_are_keys_of_the_result_and_the_others_stand_under_metrics() {
    RunResult run = LocalRun.run(JobConfig.of(new JsonObject().put("job", "brief")), worker -> {
      worker.report("mae", 0.25);
      worker.report("loss", 0.5);
      worker.report("auc", 0.75);
      worker.report("coverage_slot_3", 0.125);
      worker.report("logloss", Double.NaN);
    }, Progress.none());
    assertThat(run.auc()).isEqualTo(run.metric("auc")).isEqualTo(0.75);
    assertThat(run.accuracy()).isNaN();
    assertThat(run.logloss()).isNaN();
    assertThat(run.toString()).contains("\n  AUC 0.75000, loss 0.50000, mae 0.25000, 1 slots without");
    JsonObject json = run.toJson();
    assertThat(json.fieldNames()).containsSubsequence("examples_per_second", "loss", "auc", "accuracy", "logloss",
        "staleness_max", "metrics");
    assertThat(json.getDouble("loss")).isEqualTo(0.5);
    assertThat(json.getDouble("auc")).isEqualTo(0.75);
    assertThat(json.getValue("accuracy")).isNull();
    assertThat(json.getValue("logloss")).isNull();
    assertThat(json.getJsonObject("metrics"))
        .isEqualTo(new JsonObject().put("mae", 0.25).put("coverage_slot_3", 0.125));
  }

  @Test
  void when_a_run_was_not_resumed_then_nothing_is_said_of_it() {
    RunResult run = run(1000, 0, 0);
    assertThat(run.toString()).doesNotContain("resumed", "more than once");
    assertThat(run.examplesPerSecond()).isEqualTo(100);
    assertThat(run.toJson().getLong("examples_resumed")).isZero();
    assertThat(run.toJson().getLong("examples_repeated")).isZero();
  }

  @Test
  void when_a_run_was_resumed_then_its_examples_are_those_of_all_lives_and_its_rate_that_of_the_last() {
    RunResult run = run(1000, 600, 1);
    assertThat(run.toString()).contains("1000 examples in 10.0 s (40 examples/s",
        "resumed: 600 examples of these were in the snapshot", "1 example was trained more than once");
    assertThat(run.toJson().getLong("examples")).isEqualTo(1000);
    assertThat(run.toJson().getLong("examples_resumed")).isEqualTo(600);
    assertThat(run.toJson().getLong("examples_repeated")).isEqualTo(1);
    assertThat(run.toJson().getDouble("examples_per_second")).isEqualTo(40);
  }

  @Test
  void when_the_snapshot_did_not_say_then_the_result_does_not_either() {
    RunResult run = run(400, -1, 0);
    assertThat(run.toString()).contains("does not say how many examples it contains");
    assertThat(run.toJson().getValue("examples_resumed")).isNull();
    assertThat(run.examplesPerSecond()).isEqualTo(40);
  }
}
