package io.regatta.training.result;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

/** The examples of a resumed run in its result. */
class RunSummaryTest {

  /** A run whose last life took ten seconds. */
  private static RunResult run(long examples, long resumed, long repeated) {
    RunResult run = LocalRun.run(JobConfig.of(new JsonObject().put("job", "brief")), worker -> { }, Progress.none());
    return new RunResult(run.job(), run.mode(), run.servers(), run.trainers(), run.threads(), run.shards(), run.seed(),
        run.rank(), run.steps(), examples, 10, run.figures(), run.exchange(), run.processIds(), run.model(),
        run.parametersHash(), run.metrics(), run.examplesPerSecondByRank(), run.losses(), resumed, repeated,
        run.nothingLeft());
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
