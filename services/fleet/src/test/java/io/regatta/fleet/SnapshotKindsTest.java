package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/**
 * The kinds of snapshots that a job and a program take, in the middle of a pass and after one; and runs that resume
 * from them.
 */
@ExtendWith(BlockedLoopGuard.class)
class SnapshotKindsTest {

  @TempDir
  Path dir;

  private RunResult wideAndDeep(String output, String... keys) {
    String[] all = Stream.concat(Stream.of("mode=sync", "optimizer.kind=adam", "optimizer.learning_rate=0.01",
        "sparse_optimizer.kind=adagrad", "sparse_optimizer.learning_rate=0.1", "output=" + dir.resolve(output)), Stream.of(keys))
        .toArray(String[]::new);
    return run(Jobs.wideAndDeep(dir, all), null);
  }

  private static RunResult run(JobConfig job, TrainingProgram program) {
    return LocalCluster.run(LocalCluster.Options.of(job).withProgram(program).withoutHazelcast().withProgress(Progress.none()))
        .get(0);
  }

  private Stream<String> snapshots(String output) throws IOException {
    try (Stream<Path> entries = Files.list(dir.resolve(output))) {
      return entries.filter(Files::isDirectory).map(d -> d.getFileName().toString()).sorted().toList().stream();
    }
  }

  private Manifest manifest(String snapshot) {
    return Manifest.read(dir.resolve(snapshot));
  }

  @Test
  void batch_snapshots_stand_beside_a_base_and_its_deltas() throws IOException {
    String[] keys = {"batch_size=16", "snapshots.every_steps=10", "snapshots.deltas=3", "snapshots.batch_every_steps=15"};
    RunResult unbroken = wideAndDeep("kinds", Stream.concat(Stream.of(keys), Stream.of("max_steps=55")).toArray(String[]::new));
    assertThat(snapshots("kinds")).as("two of each kind, and what the deltas are relative to")
        .containsExactly("batch-000000030", "batch-000000045", "step-000000010", "step-000000020", "step-000000040", "step-000000050");
    assertThat(manifest("kinds/batch-000000045").kind()).isEqualTo(SnapshotKind.BATCH);
    assertThat(manifest("kinds/step-000000040").kind()).isEqualTo(SnapshotKind.DELTA);
    assertThat(manifest("kinds/step-000000040").parent()).isEqualTo("step-000000020");
    assertThat(CommandLineRun.regatta("checkpoint", "verify", dir.resolve("kinds/step-000000050").toString()).failure()).isEmpty();

    RunResult resumed = wideAndDeep("resumed", "batch_size=16", "max_steps=55", "resume=" + dir.resolve("kinds/batch-000000045"));
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
  }

  /** 75 steps in a pass: the run stops within the second and ends within the third. */
  @Test
  void a_run_that_goes_on_at_step_100_of_200_ends_with_the_bits_of_the_unbroken_one() throws IOException {
    String[] tiny = {"settings.train_rows=600", "batch_size=4", "epochs=3", "data.shuffle_buffer=100",
        "settings.hidden=[4]", "settings.test_rows=100", "snapshots.batch_every_steps=100", "snapshots.keep=1"};
    RunResult unbroken = wideAndDeep("unbroken", Stream.concat(Stream.of(tiny), Stream.of("max_steps=200"))
        .toArray(String[]::new));
    wideAndDeep("stopped", Stream.concat(Stream.of(tiny), Stream.of("max_steps=100")).toArray(String[]::new));
    assertThat(snapshots("stopped")).containsExactly("batch-000000100");
    RunResult resumed = wideAndDeep("stopped", Stream.concat(Stream.of(tiny), Stream.of("max_steps=200", "resume=auto"))
        .toArray(String[]::new));
    assertThat(resumed.steps()).isEqualTo(200);
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
  }

  private JobConfig line(String output, String resume, JsonObject snapshots, int epochs) {
    return JobConfig.of(new JsonObject().put("job", "line").put("mode", "sync").put("trainers", 2).put("servers", 2)
        .put("batch_size", 8).put("epochs", epochs).put("compute_threads", 1).put("model_thread_idle_ms", 200)
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.05)).put("snapshots", snapshots)
        .put("output", output.isEmpty() ? "" : dir.resolve(output).toString()).put("resume", resume));
  }

  /** A loop of its own of 16 steps in a pass, which takes a snapshot of some kind after some of them. */
  private static TrainingProgram loop(Map<Long, SnapshotKind> after) {
    return worker -> {
      try (Model model = Model.newInstance("line")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
          trainer.initialize(new Shape(1, 1));
          Dataset points = worker.shard(LineProgram.points(trainer.getManager(), worker.job().batchSize()));
          for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
            pass(worker, trainer, points, after);
          }
        }
      }
    };
  }

  private static void pass(Worker worker, FleetTrainer trainer, Dataset points, Map<Long, SnapshotKind> after) throws Exception {
    for (Batch batch : trainer.iterateDataset(points)) {
      try (batch) {
        EasyTrain.trainBatch(trainer, batch);
        trainer.step();
      }
      if (after.containsKey(trainer.steps())) {
        worker.snapshot(trainer, after.get(trainer.steps()));
      }
    }
  }

  @Test
  void a_program_takes_them_where_it_likes() throws IOException {
    TrainingProgram program = loop(Map.of(10L, SnapshotKind.DELTA, 20L, SnapshotKind.DELTA, 25L, SnapshotKind.BATCH));
    RunResult unbroken = run(line("loop", "", new JsonObject(), 3), program);
    assertThat(snapshots("loop")).as("the first delta has nothing to be relative to")
        .containsExactly("base-000000010", "batch-000000025", "delta-000000020");
    assertThat(manifest("loop/delta-000000020").parent()).isEqualTo("base-000000010");
    Manifest batch = manifest("loop/batch-000000025");
    assertThat(batch.fuzzy()).isFalse();
    assertThat(batch.trainers()).extracting(t -> t.progress().localSteps()).containsExactly(25L, 25L);
    for (String from : new String[] {"delta-000000020", "batch-000000025"}) {
      RunResult resumed = run(line("from-" + from, dir.resolve("loop/" + from).toString(), new JsonObject(), 3), program);
      assertThat(resumed.steps()).isEqualTo(48);
      assertThat(resumed.parametersHash()).as(from).isEqualTo(unbroken.parametersHash());
    }
  }

  @Test
  void a_program_that_cannot_take_any_is_told_why() {
    assertThatThrownBy(() -> run(line("", "", new JsonObject(), 1), loop(Map.of(5L, SnapshotKind.FULL))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("set snapshots.dir, or output");
    assertThatThrownBy(() -> run(line("model", "", new JsonObject(), 1), loop(Map.of(5L, SnapshotKind.MODEL))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("save it with worker.save");
    run(line("twice", "", new JsonObject(), 1), loop(Map.of(5L, SnapshotKind.FULL)));
    assertThatThrownBy(() -> run(line("twice", "", new JsonObject(), 1), loop(Map.of(5L, SnapshotKind.FULL))))
        .hasStackTraceContaining("holds snapshot full-000000005 of job line, which this run has not made");
  }

  @Test
  void passes_of_easy_train_are_saved_and_gone_on_from() throws IOException {
    JsonObject everyPass = new JsonObject().put("every_pass", true).put("keep", 3);
    RunResult unbroken = run(line("passes", "", everyPass, 3), new LineProgram());
    assertThat(snapshots("passes")).containsExactly("pass-00000", "pass-00001", "pass-00002");
    assertThat(manifest("passes/pass-00001").pass()).isEqualTo(1);
    run(line("two", "", everyPass, 2), new LineProgram());
    RunResult resumed = run(line("two", "auto", everyPass, 3), new LineProgram());
    assertThat(snapshots("two")).containsExactly("pass-00000", "pass-00001", "pass-00002");
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
  }
}
