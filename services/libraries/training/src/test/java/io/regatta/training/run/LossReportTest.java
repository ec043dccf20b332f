package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.core.progress.Progress;
import io.regatta.data.DataShare;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.LostTrainer;
import io.regatta.training.result.RunLosses;
import io.regatta.training.result.RunResult;
import io.regatta.training.session.DepartedTrainer;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

class LossReportTest {

  private static JobConfig job(Object... keys) {
    JsonObject job = new JsonObject().put("job", "pair").put("trainers", 2).put("epochs", 3).put("batch_size", 10);
    for (int i = 0; i < keys.length; i += 2) {
      job.put((String) keys[i], keys[i + 1]);
    }
    return JobConfig.of(job);
  }

  private static final IntFunction<List<DataShare>> BY_POSITION =
      position -> List.of(new DataShare(List.of(), "train.txt", position, 2, 100));

  @Test
  void untrained_examples_are_those_of_all_passes_without_those_of_the_last_heartbeat() {
    LostTrainer lost = LossReport.lost(job(), 1, new DepartedTrainer(1, false, 6, 70), BY_POSITION, TrainerProgress.NONE);
    assertThat(lost.untrained()).isEqualTo(230);
    assertThat(lost).hasToString("trainer 1 (was lost after step 6, 70 examples trained): 230 examples not trained, of part 2 of 2 of "
        + "train.txt");
  }

  @Test
  void nothing_is_untrained_when_the_trainer_had_made_all_steps_that_the_job_allows() {
    LostTrainer lost = LossReport.lost(job("max_steps", 7), 1, new DepartedTrainer(1, true, 6, 70), BY_POSITION, TrainerProgress.NONE);
    assertThat(lost.untrained()).isZero();
    assertThat(new RunLosses(List.of(lost), false).failure("pair")).isEmpty();
  }

  @Test
  void when_the_life_before_had_fewer_threads_then_it_is_not_known_what_was_not_trained() {
    TrainerProgress start = new TrainerProgress(3, 3, 3, List.of(new Replica(3, List.of())));
    assertThat(LossReport.lost(job("threads", 2), 1, new DepartedTrainer(1, false, 15, 70), BY_POSITION, start)
        .untrained()).isEqualTo(-1);
  }

  @Test
  void files_are_named_when_the_trainer_alone_reads_them() {
    LostTrainer lost = LossReport.lost(job("threads", 2), 1, new DepartedTrainer(1, false, -1, 0),
        position -> List.of(new DataShare(List.of("part-" + position), "all", position, 4, -1)), TrainerProgress.NONE);
    assertThat(lost.files()).containsExactly("part-2", "part-3");
    assertThat(lost).hasToString("trainer 1 (was lost before its first step, 0 examples trained): an unknown number of examples not "
        + "trained, of files part-2, part-3");
  }

  private static TrainerProgress at(long localSteps, Part... parts) {
    return new TrainerProgress(localSteps, localSteps, localSteps, List.of(new Replica(localSteps, List.of(parts))));
  }

  private static long untrained(JobConfig job, TrainerProgress start) {
    return LossReport.lost(job, 1, new DepartedTrainer(1, false, 15, 70), BY_POSITION, start).untrained();
  }

  @Test
  void untrained_examples_of_a_resumed_run_are_those_after_its_snapshot() {
    assertThat(untrained(job(), at(13, new Part(1, 1, 2, 3)))).as("in the second pass").isEqualTo(300 - 130 - 70);
    assertThat(untrained(job(), at(20, new Part(2, 1, 2, 0)))).as("before the third pass").isEqualTo(100 - 70);
    assertThat(untrained(job(), at(30, new Part(2, 1, 2, 11)))).as("after the last batch").isZero();
    assertThat(untrained(job("max_steps", 25), at(13, new Part(1, 1, 2, 3)))).isEqualTo(120 - 70);
  }

  @Test
  void untrained_examples_of_a_resumed_run_are_not_known_when_its_parts_are_those_of_other_trainers() {
    assertThat(untrained(job(), at(13))).as("place not known").isEqualTo(-1);
    assertThat(untrained(job(), at(13, new Part(1, 2, 3, 3)))).as("part of another division").isEqualTo(-1);
    assertThat(untrained(job(), at(13, new Part(1, 1, 2, 4, 2)))).as("every second batch").isEqualTo(-1);
    assertThat(untrained(job(), at(13, new Part(1, 1, 2, 3), new Part(1, 0, 2, 5)))).as("two parts").isEqualTo(-1);
  }

  @Test
  void data_count_as_untrained_when_nobody_knows_how_far_the_trainer_was() {
    LostTrainer lost = LossReport.lost(job(), 1, null, BY_POSITION, TrainerProgress.NONE);
    assertThat(lost.untrained()).isEqualTo(-1);
    assertThat(lost.hasUntrained()).isTrue();
  }

  /** A run of one trainer, as if it had lost another one. */
  @Test
  void the_last_line_warns_and_the_run_fails_unless_the_job_accepts_the_loss() {
    RunResult whole = LocalRun.run(job("trainers", 1), worker -> { }, Progress.none());
    assertThat(whole.isSuccess()).isTrue();
    assertThat(whole.toString()).doesNotContain("WARNING");
    LostTrainer lost = LossReport.lost(job(), 1, new DepartedTrainer(1, false, 6, 70), BY_POSITION, TrainerProgress.NONE);
    RunResult strict = with(whole, new RunLosses(List.of(lost), false));
    assertThat(strict.isSuccess()).isFalse();
    assertThat(strict.toString().lines().reduce((former, latter) -> latter)).hasValue("WARNING: not all data were trained: " + lost);
    RunResult lenient = with(whole, new RunLosses(List.of(lost), true));
    assertThat(lenient.isSuccess()).isTrue();
    assertThat(lenient.toString()).endsWith("WARNING: not all data were trained: " + lost);
    assertThat(lenient.toJson().getJsonArray("lost_trainers").getJsonObject(0).getLong("untrained_examples")).isEqualTo(230);
  }

  private static RunResult with(RunResult run, RunLosses losses) {
    return new RunResult(run.job(), run.mode(), run.servers(), 2, run.threads(), run.shards(), run.seed(), run.rank(), run.steps(),
        run.examples(), run.seconds(), run.exchange(), run.processIds(), run.model(), run.parametersHash(),
        run.metrics(), run.examplesPerSecondByRank(), losses,
        run.examplesResumed(), run.examplesRepeated(), run.evaluations(), run.nothingLeft());
  }
}
