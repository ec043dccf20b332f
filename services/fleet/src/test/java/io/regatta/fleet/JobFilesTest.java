package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.trainer.JobConfig;
import io.regatta.trainer.Progress;
import io.regatta.trainer.RunResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The jobs of configs/ on two servers and two trainers, and what they must reach; {@link CensusModesTest} has another. */
class JobFilesTest {

  /** Training MSE of least squares on the first 404 rows of the housing data. */
  private static final double LEAST_SQUARES = 22.7784;

  @TempDir
  Path dir;

  private static RunResult run(JobConfig job) {
    List<RunResult> all = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast()
        .withProgress(Progress.none()));
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
  void quick_start_runs_with_its_settings() {
    RunResult result = run(Jobs.config("fit-a-line", "data.dir=" + Jobs.data("boston_housing"), "output="));
    assertThat(result.steps()).isBetween(30 * 25L, 30 * 26L);
    assertThat(result.loss()).isBetween(LEAST_SQUARES, 600.0);
  }

  @Test
  void converged_settings_reach_least_squares() {
    RunResult result = run(Jobs.config("fit-a-line-converged", "data.dir=" + Jobs.data("boston_housing"),
        "output=" + dir.resolve("model")));
    assertThat(result.loss()).isCloseTo(LEAST_SQUARES, within(0.01 * LEAST_SQUARES));
  }

  @Test
  void wide_and_deep_learns_what_a_linear_model_cannot() {
    RunResult result = run(Jobs.config("wide-and-deep", "data.dir=" + dir.resolve("data"),
        "output=" + dir.resolve("model"), "epochs=1"));
    assertThat(result.auc()).isGreaterThan(0.69);
    assertThat(dir.resolve("model/manifest.json")).isRegularFile();
  }
}
