package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.shard.Mode;
import io.regatta.trainer.JobConfig;
import io.regatta.trainer.Progress;
import io.regatta.trainer.RunResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every job of configs/ on two servers and two trainers, and what it must reach. */
class JobFilesTest {

  /** Training MSE of least squares on the first 404 rows of the housing data. */
  private static final double LEAST_SQUARES = 22.7784;
  /** What makes trainer 1 about half as fast as trainer 0. */
  private static final Faults UNEQUAL = Faults.slow(Map.of(1, 3L));

  @TempDir
  Path dir;

  private static RunResult run(JobConfig job, Faults faults) {
    List<RunResult> all = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast()
        .withProgress(Progress.none()).withFaults(faults));
    System.out.println(RunSummary.of(all.get(0)));
    return all.get(0);
  }

  @Test
  void every_job_file_is_run_here() throws Exception {
    try (Stream<Path> files = Files.list(Checkout.file("configs"))) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("census.yaml", "fit-a-line.yaml", "fit-a-line-converged.yaml",
              "wide-and-deep.yaml");
    }
  }

  @Test
  void census_reaches_the_same_auc_in_every_mode() {
    Path data = Jobs.data("adult_census");
    Map<Mode, RunResult> results = new EnumMap<>(Mode.class);
    for (Mode mode : Mode.values()) {
      results.put(mode, run(Jobs.config("census", "data.dir=" + data, "output=",
          "mode=" + mode.name().toLowerCase(Locale.ROOT)), UNEQUAL));
    }
    double sync = results.get(Mode.SYNC).auc();
    assertThat(sync).isGreaterThanOrEqualTo(0.912);
    assertThat(results).allSatisfy((mode, result) -> assertThat(result.auc()).as(mode.toString())
        .isCloseTo(sync, within(0.003)));
    assertThat(results.get(Mode.SYNC).stalenessMax()).isZero();
    assertThat(results.get(Mode.ASYNC).stalenessMax()).isPositive();
  }

  @Test
  void quick_start_runs_with_its_settings() {
    RunResult result = run(Jobs.config("fit-a-line", "data.dir=" + Jobs.data("boston_housing"), "output="),
        Faults.none());
    assertThat(result.steps()).isBetween(30 * 25L, 30 * 26L);
    assertThat(result.loss()).isBetween(LEAST_SQUARES, 600.0);
  }

  @Test
  void converged_settings_reach_least_squares() {
    RunResult result = run(Jobs.config("fit-a-line-converged", "data.dir=" + Jobs.data("boston_housing"),
        "output=" + dir.resolve("model")), Faults.none());
    assertThat(result.loss()).isCloseTo(LEAST_SQUARES, within(0.01 * LEAST_SQUARES));
  }

  @Test
  void wide_and_deep_learns_what_a_linear_model_cannot() {
    RunResult result = run(Jobs.config("wide-and-deep", "data.dir=" + dir.resolve("data"),
        "output=" + dir.resolve("model"), "epochs=1"), Faults.none());
    assertThat(result.auc()).isGreaterThan(0.69);
    assertThat(dir.resolve("model/manifest.json")).isRegularFile();
  }
}
