package io.regatta.fleet;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.save.SavedParameters;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs with heter workers on a whole cluster in one JVM; the oracle is the same job without them. */
@ExtendWith(BlockedLoopGuard.class)
class HeterJobTest {

  @TempDir
  static Path dir;

  private static List<RunResult> run(String... keys) {
    return LocalCluster.run(options(keys));
  }

  private static LocalCluster.Options options(String... keys) {
    List<String> all = new ArrayList<>(List.of("epochs=2", "heter.seed_batches=true"));
    all.addAll(List.of(keys));
    return LocalCluster.Options.of(Jobs.wideAndDeep(dir, all.toArray(String[]::new))).withoutHazelcast().withProgress(Progress.none());
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "1, 2", "2, 1", "2, 2", "3, 2"})
  void sync_has_the_same_parameters_as_without_a_cut(int trainers, int workers) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    String whole = run("mode=sync", "trainers=" + trainers).get(0).parametersHash();
    List<RunResult> cut = run("mode=sync", "trainers=" + trainers, "heter.workers=" + workers);
    assertThat(cut).hasSize(trainers).allSatisfy(result -> assertThat(result.parametersHash()).hasSize(16).isEqualTo(whole));
    threads.assertNone();
  }

  @Test
  void two_batches_under_way_have_the_same_parameters_as_two_replicas() {
    String whole = run("mode=sync", "threads=2").get(0).parametersHash();
    assertThat(run("mode=sync", "heter.in_flight=2", "heter.workers=2").get(0).parametersHash()).isEqualTo(whole);
  }

  @ParameterizedTest
  @CsvSource({"async", "half_async", "ssp", "geo"})
  void one_trainer_has_the_same_parameters_as_without_a_cut(String mode) {
    String[] keys = {"mode=" + mode, "trainers=1", "k_steps=2", "heter.workers=0"};
    String whole = run(keys).get(0).parametersHash();
    keys[3] = "heter.workers=1";
    assertThat(run(keys).get(0).parametersHash()).isEqualTo(whole);
  }

  /** A heter worker waits for no batch: it gathers those that have come while it computed another one. */
  @Test
  void gathered_batches_have_the_same_parameters_within_rounding() {
    run("mode=sync", "trainers=3", "output=" + dir.resolve("whole"));
    LocalCluster cluster = LocalCluster.start(options("mode=sync", "trainers=3", "heter.workers=1", "heter.max_batch=1000",
        "output=" + dir.resolve("gathered")));
    try {
      get(cluster.results());
      assertThat(get(cluster.nodeReady()).metrics().get("regatta.heter.gathered").functionCounter().count()).isPositive();
    } finally {
      get(cluster.close());
    }
    SavedParameters whole = SavedParameters.read(dir.resolve("whole"));
    SavedParameters gathered = SavedParameters.read(dir.resolve("gathered"));
    assertThat(whole.sameRows(gathered)).isTrue();
    assertThat(whole.distance(gathered)).isLessThanOrEqualTo(1e-6);
  }

  /** A program of a user's own, given in code, without a mark: the whole network is the part. */
  @Test
  void a_whole_network_is_computed_elsewhere() {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "line").put("mode", "sync").put("trainers", 2).put("servers", 2)
        .put("batch_size", 16).put("compute_threads", 1).put("epochs", 3).put("heter", new JsonObject().put("seed_batches", true)));
    JobConfig cut = JobConfig.of(new JsonObject().put("job", "line").put("mode", "sync").put("trainers", 2).put("servers", 2)
        .put("batch_size", 16).put("compute_threads", 1).put("epochs", 3).put("heter", new JsonObject().put("workers", 2)));
    assertThat(run(cut)).isEqualTo(run(job));
  }

  private static String run(JobConfig line) {
    return LocalCluster.run(LocalCluster.Options.of(line).withProgram(new LineProgram()).withoutHazelcast()
        .withProgress(Progress.none())).get(0).parametersHash();
  }
}
