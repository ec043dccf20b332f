package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
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

/** Jobs whose heter workers pull and push the dense parameters; the oracle is the same job without heter workers. */
@ExtendWith(BlockedLoopGuard.class)
class HeterDenseJobTest {

  @TempDir
  static Path dir;

  private static List<RunResult> run(String... keys) {
    List<String> all = new ArrayList<>(List.of("data.dir=" + dir.resolve("data"), "output=" + dir.resolve("output"),
        "epochs=2",
        "batch_size=64", "settings.train_rows=3000", "settings.test_rows=1000", "settings.id_space=1001",
        "settings.embedding=4",
        "settings.hidden=[16,8]", "optimizer.schedule.kind=constant", "optimizer.schedule.warmup_steps=0",
        "sparse_optimizer.schedule.kind=constant", "sparse_optimizer.schedule.warmup_steps=0", "min_block=64",
        "overlap=false",
        "compute_threads=1", "model_thread_idle_ms=200", "heter.seed_batches=true", "heter.dense=servers"));
    all.addAll(List.of(keys));
    return LocalCluster.run(LocalCluster.Options.of(Jobs.config("ctr-dnn", all.toArray(String[]::new)))
        .withoutHazelcast()
        .withProgress(Progress.none()));
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "2, 2", "4, 2"})
  void sync_has_the_same_parameters_as_without_a_cut(int trainers, int workers) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    String whole = run("mode=sync", "trainers=" + trainers).get(0).parametersHash();
    List<RunResult> cut = run("mode=sync", "trainers=" + trainers, "heter.workers=" + workers);
    assertThat(cut).hasSize(trainers).allSatisfy(result -> assertThat(result.parametersHash()).hasSize(16)
        .isEqualTo(whole));
    threads.assertNone();
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "2, 1", "2, 2", "3, 2", "1, 2"})
  void heter_workers_that_add_up_their_gradients_have_the_same_parameters_within_rounding(int trainers, int workers) {
    String output = "output=" + dir.resolve("whole-" + trainers);
    String whole = run("mode=sync", "trainers=" + trainers, output).get(0).parametersHash();
    RunResult cut = run("mode=sync", "trainers=" + trainers, "heter.workers=" + workers, "heter.dense=collective",
        "output=" + dir.resolve("summed")).get(0);
    if (trainers == 1) {
      assertThat(cut.parametersHash()).isEqualTo(whole);
    }
    SavedParameters one = SavedParameters.read(dir.resolve("whole-" + trainers));
    SavedParameters other = SavedParameters.read(dir.resolve("summed"));
    assertThat(one.sameRows(other)).isTrue();
    assertThat(one.distance(other)).isLessThanOrEqualTo(1e-6);
  }

  @ParameterizedTest
  @CsvSource({"async, overlap=false", "async, overlap=true", "half_async, overlap=false", "ssp, overlap=false",
      "geo, k_steps=3",
      "lazy_async, pull_steps=2", "downpour, push_steps=1", "downpour, push_steps=3"})
  void one_trainer_has_the_same_parameters_as_without_a_cut(String mode, String key) {
    RunResult whole = run("mode=" + mode, "trainers=1", key).get(0);
    RunResult cut = run("mode=" + mode, "trainers=1", key, "heter.workers=1").get(0);
    assertThat(cut.parametersHash()).isEqualTo(whole.parametersHash());
    assertThat(cut.auc()).as("evaluated on the servers' values").isEqualTo(whole.auc());
  }

  @Test
  void two_batches_under_way_have_the_same_parameters_as_two_replicas() {
    String whole = run("mode=sync", "threads=2").get(0).parametersHash();
    assertThat(run("mode=sync", "heter.in_flight=2", "heter.workers=1").get(0).parametersHash()).isEqualTo(whole);
  }

  @Test
  void two_async_trainers_learn_as_without_a_cut() {
    double whole = run("mode=async").get(0).auc();
    assertThat(run("mode=async", "heter.workers=2").get(0).auc()).isCloseTo(whole, within(0.02));
  }

  @Test
  void norms_are_clipped_over_whole_variables() {
    String whole = run("mode=sync", "optimizer.clip_norm=0.05").get(0).parametersHash();
    assertThat(run("mode=sync", "optimizer.clip_norm=0.05", "heter.workers=1").get(0).parametersHash())
        .isEqualTo(whole);
  }

  /** A program given in code, without a mark and without tables: pulls of a step have no rows. */
  @Test
  void a_whole_network_is_computed_elsewhere() {
    assertThat(line(2)).isEqualTo(line(0));
  }

  private static String line(int workers) {
    return line(workers, new JsonObject());
  }

  private static String line(int workers, JsonObject other) {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "line").put("mode", "sync").put("trainers", 2)
        .put("servers", 2)
        .put("batch_size", 16).put("compute_threads", 1).put("epochs", 3)
        .put("heter", new JsonObject().put("workers", workers).put("dense", "servers").put("seed_batches", true))
        .mergeIn(other));
    return LocalCluster.run(LocalCluster.Options.of(job).withProgram(new LineProgram()).withoutHazelcast()
        .withProgress(Progress.none())).get(0).parametersHash();
  }

  @ParameterizedTest
  @CsvSource({"sync, 2, 2", "async, 1, 1", "geo, 1, 1"})
  void dense_parameters_before_the_cut_are_the_trainers_own(String mode, int trainers, int workers) {
    String whole = wide(mode, trainers, 0);
    assertThat(wide(mode, trainers, workers)).hasSize(16).isEqualTo(whole);
  }

  private static String wide(String mode, int trainers, int workers) {
    JobConfig job = Jobs.wideAndDeep(dir.resolve("wide"), "mode=" + mode, "trainers=" + trainers, "heter.workers="
        + workers,
        "heter.dense=servers", "heter.seed_batches=true", "aggregator=false", "k_steps=2");
    return LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgress(Progress.none())).get(0)
        .parametersHash();
  }

  @Test
  void an_aggregator_is_refused_in_one_line() {
    assertThatThrownBy(() -> line(1, new JsonObject().put("aggregator", true))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("through the aggregator of its host, where the part's gradients are not");
  }
}
