package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import io.regatta.core.progress.Progress;
import io.regatta.data.LoaderOptions;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import io.regatta.data.format.MultiSlotFormat;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.snapshot.Manifest;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Sync trainers whose parts of the data have different numbers of batches, and runs that resume from their snapshots.
 */
@ExtendWith(BlockedLoopGuard.class)
class UnequalPartsTest {

  private static final int BATCH = 16;

  /** Data are generated once. */
  @TempDir
  static Path dir;

  /** Returns files of these numbers of batches, cut out of generated ones. */
  private static String parts(int... batches) throws IOException {
    if (!Files.exists(dir.resolve("data"))) {
      run("generated", null, "max_steps=1");
    }
    List<String> lines;
    try (Stream<Path> files = Files.list(dir.resolve("data"))) {
      lines = files.filter(f -> f.getFileName().toString().startsWith("train")).sorted().flatMap(UnequalPartsTest::lines)
          .toList();
    }
    Path parts = Files.createDirectories(dir.resolve("parts"));
    StringBuilder names = new StringBuilder();
    int from = 0;
    for (int n : batches) {
      names.append(names.isEmpty() ? "" : ",").append("\"part-").append(from).append('-').append(n).append('"');
      Files.write(parts.resolve("part-" + from + "-" + n), lines.subList(from, from + n * BATCH));
      from += n * BATCH;
    }
    Files.write(parts.resolve("test.tsv"), lines.subList(from, from + 100));
    return "[" + names + "]";
  }

  private static Stream<String> lines(Path file) {
    try {
      return Files.readAllLines(file).stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static RunResult run(String output, TrainingProgram program, String... keys) {
    String[] all = Stream.concat(Stream.of("mode=sync", "optimizer.kind=adam", "optimizer.learning_rate=0.01",
        "settings.hidden=[4]", "sparse_optimizer.kind=adagrad", "sparse_optimizer.learning_rate=0.1", "data.shuffle_buffer=0", "batch_size=" + BATCH,
        "output=" + dir.resolve(output)), Stream.of(keys)).toArray(String[]::new);
    return LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, all)).withProgram(program).withoutHazelcast()
        .withProgress(Progress.none())).get(0);
  }

  private static String[] with(String[] keys, String... more) {
    return Stream.concat(Stream.of(keys), Stream.of(more)).toArray(String[]::new);
  }

  /**
   * Passes of 7 and 12 batches begin at steps 0, 12 and 24. The snapshots are of steps at which both trainers train,
   * and of steps at which one waits in the barrier after the pass while the other, with more batches, trains.
   */
  @ParameterizedTest
  @CsvSource({"7, 12, 15", "12, 7, 15", "12, 7, 20"})
  void a_run_that_goes_on_ends_with_the_bits_of_the_unbroken_one(int first, int second, int from) throws IOException {
    String name = first + "-" + second + "-" + from;
    String[] keys = {"data.dir=" + dir.resolve("parts"), "data.files=" + parts(first, second), "data.test_files=[\"test.tsv\"]",
        "data.shard_by=file", "epochs=3", "snapshots.every_steps=5", "snapshots.every_pass=true", "snapshots.keep=20"};
    RunResult unbroken = run("unbroken-" + name, null, keys);
    Path snapshot = dir.resolve("unbroken-" + name + "/step-0000000" + from);
    Manifest manifest = Manifest.read(snapshot);
    assertThat(manifest.step()).isEqualTo(from);
    RunResult resumed = run("resumed-" + name, null, with(keys, "resume=" + snapshot));
    assertThat(resumed.steps()).isEqualTo(36).isEqualTo(unbroken.steps());
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
    Path pass = dir.resolve("unbroken-" + name + "/pass-00000");
    assertThat(Manifest.read(pass).step()).isEqualTo(12);
    if (first > second && from == 20) {
      assertThat(run("pass-" + name, null, with(keys, "resume=" + pass)).parametersHash()).isEqualTo(unbroken.parametersHash());
    }
  }

  /** Three windows of two workers, and one example, a step of one of them alone; nobody waits between passes. */
  @Test
  void workers_that_share_all_data_stay_together_without_a_barrier() throws IOException {
    String[] keys = {"data.dir=" + dir.resolve("parts"), "data.files=" + odd(), "data.test_files=[\"test.tsv\"]",
        "data.drop_last=false", "epochs=3", "snapshots.every_steps=2", "snapshots.keep=9"};
    RunResult unbroken = run("odd", null, keys);
    assertThat(unbroken.steps()).isEqualTo(9);
    for (int from : new int[] {4, 8}) {
      RunResult resumed = run("odd-from-" + from, null, with(keys, "resume=" + dir.resolve("odd/step-00000000" + from)));
      assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
    }
  }

  /** All that the second worker has of the second window is bad: it takes part in that step with nothing. */
  @Test
  void a_batch_of_bad_lines_only_does_not_put_its_worker_ahead() throws IOException {
    parts(12);
    Path parts = dir.resolve("parts");
    List<String> bad = new ArrayList<>(Files.readAllLines(parts.resolve("part-0-12")));
    Collections.fill(bad.subList(3 * BATCH, 4 * BATCH), "bad");
    Files.write(parts.resolve("bad"), bad);
    String[] keys = {"data.dir=" + parts, "data.files=[\"bad\"]", "data.test_files=[\"test.tsv\"]", "data.on_bad_line=skip",
        "data.drop_last=false", "epochs=2", "snapshots.every_steps=2", "snapshots.keep=9"};
    RunResult unbroken = run("bad", null, keys);
    assertThat(unbroken.steps()).isEqualTo(12);
    assertThat(unbroken.examples()).isEqualTo(2 * 11 * BATCH);
    for (int from : new int[] {2, 4, 8}) { // the first one is that of this step
      RunResult resumed = run("bad-from-" + from, null, with(keys, "resume=" + dir.resolve("bad/step-00000000" + from)));
      assertThat(resumed.parametersHash()).as("from step %d", from).isEqualTo(unbroken.parametersHash());
    }
  }

  /** The same without servers, of a network that has dense parameters only; also where that batch is the first of all. */
  @ParameterizedTest
  @CsvSource({"0", "2"})
  void so_it_is_among_ranks_that_have_no_servers(int window) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 12 * BATCH; i++) {
      lines.add("2 0." + i + " " + i % 3 + " 1 " + i % 5);
    }
    Collections.fill(lines.subList((2 * window + 1) * BATCH, (2 * window + 2) * BATCH), "bad");
    Path file = Files.write(dir.resolve("dense-" + window), lines);
    JsonObject job = new JsonObject().put("job", "dense").put("mode", "collective").put("trainers", 2).put("batch_size", BATCH)
        .put("epochs", 2).put("compute_threads", 1).put("model_thread_idle_ms", 200)
        .put("data", new JsonObject().put("on_bad_line", "skip"))
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.01))
        .put("snapshots", new JsonObject().put("every_steps", 2).put("keep", 9))
        .put("output", dir.resolve("dense-unbroken-" + window).toString());
    TrainingProgram program = worker -> trainOn(worker, file);
    RunResult unbroken = collective(job, program);
    assertThat(unbroken.steps()).isEqualTo(12);
    for (int from : new int[] {2, 4, 8}) {
      RunResult resumed = collective(job.copy().put("output", dir.resolve("dense-from-" + from + "-" + window).toString())
          .put("resume", dir.resolve("dense-unbroken-" + window + "/step-00000000" + from).toString()), program);
      assertThat(resumed.parametersHash()).as("from step %d", from).isEqualTo(unbroken.parametersHash());
    }
  }

  private static RunResult collective(JsonObject job, TrainingProgram program) {
    return LocalCluster.run(LocalCluster.Options.of(JobConfig.of(job)).withProgram(program).withoutHazelcast()
        .withProgress(Progress.none())).get(0);
  }

  private static void trainOn(Worker worker, Path file) throws Exception {
    TextSource lines = new TextSource(new MultiSlotFormat(Slots.builder().dense("x", 2).label("y").build()), List.of(file),
        worker.badLines(true));
    try (Model model = Model.newInstance("dense");
        SlotDataset data = new SlotDataset(lines, LoaderOptions.inOrder(BATCH).shard(worker.shardIndex(), worker.shardCount()))) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
        trainer.initialize(new Shape(BATCH, 2));
        for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
          worker.trainFromDataset(trainer, data, null, 100, false);
        }
        worker.settle(trainer);
      }
    }
  }

  private static String odd() throws IOException {
    parts(7);
    Path parts = dir.resolve("parts");
    Files.write(parts.resolve("odd"), Files.readAllLines(parts.resolve("part-0-7")).subList(0, 6 * BATCH + 1));
    return "[\"odd\"]";
  }
}
