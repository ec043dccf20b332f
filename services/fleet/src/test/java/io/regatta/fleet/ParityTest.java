package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.nn.core.Linear;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.local.Parity;
import io.regatta.fleet.local.Parity.Check;
import io.regatta.fleet.process.JobFile;
import io.regatta.program.StockComparison;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.Strategy;
import io.regatta.training.rank.FleetTrainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code regatta parity}: distribution does not change what wide & deep computes, and what does not repeat is found. */
class ParityTest {

  @TempDir
  static Path dir;

  private List<Check> parity(TrainingProgram program, String... keys) {
    List<String> overrides = new ArrayList<>(Jobs.tiny(dir));
    overrides.add("data.dir=" + dir.resolve("parity")); // 50 steps of two trainers
    overrides.add("settings.train_rows=6500");
    overrides.addAll(List.of(keys));
    return new Parity(changes -> JobFile.load(Checkout.file("configs/wide-and-deep.yaml"), System.getenv(), List.of(), List.of(),
        overrides, changes), program)
        .run(check -> System.out.println(check));
  }

  @ParameterizedTest
  @ValueSource(strings = {"sgd", "adagrad", "adam"})
  void holds_for_wide_and_deep(String optimizer) {
    List<Check> checks = parity(null, "optimizer.kind=" + optimizer, "sparse_optimizer.kind=" + optimizer,
        "optimizer.learning_rate=0.01", "sparse_optimizer.learning_rate=0.01");
    assertThat(checks).hasSizeGreaterThanOrEqualTo(8).allSatisfy(check -> assertThat(check.passed())
        .as(check.toString()).isTrue());
    assertThat(checks).filteredOn(check -> check.what().endsWith("sync = alone with the batches together"))
        .extracting(Check::limit).containsExactly(optimizer.equals("adam") ? Double.POSITIVE_INFINITY : Parity.SAME_BATCH);
    assertThat(checks).filteredOn(check -> Double.isInfinite(check.limit()))
        .allSatisfy(check -> assertThat(check.distance()).as(check.toString()).isBetween(0.0, 10.0));
  }

  @Test
  void a_job_that_magnifies_its_own_rounding_is_held_to_the_same_limit_over_fewer_steps() {
    List<Check> checks = parity(null, "max_steps=60", "batch_size=32",
        "optimizer.learning_rate=0.4",
        "optimizer.schedule.kind=cosine", "optimizer.schedule.warmup_steps=60", "sparse_optimizer.learning_rate=400",
        "sparse_optimizer.schedule.kind=cosine", "sparse_optimizer.schedule.warmup_steps=60", "settings.train_rows=8000",
        "settings.embedding=10", "settings.hidden=[64,64]", "data.dir=" + dir.resolve("rounding"),
        "nan_policy=skip"); // async may diverge with such rates
    List<Check> judged = checks.stream().filter(check -> check.what().contains("sync = alone with the batches"))
        .toList();
    assertThat(judged).hasSize(2);
    assertThat(judged.get(0).limit()).isInfinite();
    assertThat(checks).filteredOn(check -> check.what().endsWith("2^-18 higher")).extracting(Check::distance)
        .as("what rounding makes of it").allMatch(distance -> distance > Parity.SAME_BATCH);
    assertThat(judged.get(1).what()).endsWith(" steps");
    assertThat(judged.get(1).limit()).isEqualTo(Parity.SAME_BATCH);
    assertThat(judged.get(1).distance()).isLessThanOrEqualTo(Parity.SAME_BATCH);
  }

  @Test
  void a_program_with_a_mode_of_its_own_cannot_be_compared_over_modes() throws IOException {
    Path job = Files.writeString(dir.resolve("line.yaml"), "job: line\ntrainers: 2\nbatch_size: 8\n");
    TrainingProgram async = worker -> {
      try (Model model = Model.newInstance("line")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker), Strategy.async())) {
          new LineProgram().train(worker, trainer);
        }
      }
    };
    CommandLineRun run = CommandLineRun.with(async, "parity", job.toString(), "--max-steps", "4");
    assertThat(run.status()).as(run.err()).isEqualTo(Report.BAD_INPUT);
    assertThat(run.err()).contains("trains in mode async where the job says sync");
  }

  @Test
  void sgd_on_servers_equals_stock_djl() {
    Map<String, Double> figures = LocalCluster.run(LocalCluster.Options.of(StockComparison.job()).withoutHazelcast()
        .withProgram(new StockComparison()).withProgress(Progress.none())).get(0).metrics();
    assertThat(figures.get(StockComparison.DISTANCE)).isLessThanOrEqualTo(Parity.STOCK);
    assertThat(figures.get(StockComparison.MOVED)).isGreaterThan(0.1);
  }

  @Test
  void a_program_that_does_not_repeat_itself_drifts() throws IOException {
    AtomicInteger runs = new AtomicInteger();
    Path job = Files.writeString(dir.resolve("line.yaml"), "job: line\ntrainers: 2\nbatch_size: 8\n");
    CommandLineRun run = CommandLineRun.with(new LineProgram(runs::incrementAndGet), "parity", job.toString(),
        "--max-steps", "4");
    assertThat(run.status()).as(run.err()).isEqualTo(Report.FAILED);
    assertThat(run.out()).containsPattern("DRIFT +alone, twice").contains("checks failed");
  }

  @Test
  void a_mode_that_the_job_does_not_allow_is_said_to_be_left_out() throws IOException {
    Path job = Files.writeString(dir.resolve("momentum.yaml"), "job: line\ntrainers: 2\nbatch_size: 8\n"
        + "optimizer: {kind: momentum, learning_rate: 0.01}\n");
    CommandLineRun run = CommandLineRun.with(new LineProgram(), "parity", job.toString(), "--max-steps", "4");
    assertThat(run.status()).as(run.out() + run.err()).isEqualTo(Report.DONE);
    assertThat(run.out()).containsPattern("skip +2 trainers, geo \\(it needs optimizer.kind: sgd\\)")
        .contains("parity holds");
  }

  @Test
  void a_mode_in_which_the_job_diverges_is_said_and_is_no_drift() throws IOException {
    Path job = Files.writeString(dir.resolve("line.yaml"), "job: line\ntrainers: 2\nbatch_size: 8\n");
    TrainingProgram unstable = worker -> {
      if (worker.job().mode() == Mode.ASYNC) {
        throw new InvalidInput("prediction NaN");
      }
      new LineProgram().run(worker);
    };
    CommandLineRun run = CommandLineRun.with(unstable, "parity", job.toString(), "--max-steps", "4");
    assertThat(run.status()).as(run.out() + run.err()).isEqualTo(Report.DONE);
    assertThat(run.out()).containsPattern("skip +2 trainers, async, .*\\(prediction NaN\\)")
        .containsPattern("-- +2 trainers, ssp, to alone");
  }

  @Test
  void a_program_that_saves_nothing_by_itself_is_compared_as_well() throws IOException {
    Path job = Files.writeString(dir.resolve("line.yaml"), "job: line\ntrainers: 1\nbatch_size: 8\n");
    CommandLineRun run = CommandLineRun.with(new LineProgram(), "parity", job.toString(), "--max-steps", "4");
    assertThat(run.out()).containsPattern("ok +alone, twice +same bits")
        .containsPattern("ok +1 trainer, sync, over services = alone +same bits")
        .containsPattern("ok +2 trainers, sync, 5 shards = 1 shard +same bits").doesNotContain("NaN")
        .containsPattern("-- +2 trainers, async, to alone .* \\(reported only\\)")
        .doesNotContainPattern("ok .*reported only").doesNotContain("skip");
  }
}
