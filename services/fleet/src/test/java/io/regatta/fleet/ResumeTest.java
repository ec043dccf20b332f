package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.DataCursor;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.predictor.Predictor;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of a whole cluster in one JVM: runs that resume from them, and the commands that read them. */
@ExtendWith(BlockedLoopGuard.class)
class ResumeTest {

  /** Data are generated once. */
  @TempDir
  static Path dir;

  private static RunResult run(String output, String... keys) {
    List<String> all = new ArrayList<>(List.of("mode=sync", "optimizer.kind=adam", "optimizer.learning_rate=0.01",
        "sparse_optimizer.kind=adagrad", "sparse_optimizer.learning_rate=0.1", "data.shuffle_buffer=500",
        "output=" + dir.resolve(output)));
    all.addAll(List.of(keys));
    return LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, all.toArray(String[]::new)))
        .withoutHazelcast().withProgress(Progress.none())).get(0);
  }

  private static List<String> snapshots(String output) throws IOException {
    try (Stream<Path> entries = Files.list(dir.resolve(output))) {
      return entries.filter(Files::isDirectory).map(d -> d.getFileName().toString()).sorted().toList();
    }
  }

  private static CommandLineRun checkpoint(String command, Path... paths) {
    return CommandLineRun.regatta(Stream.concat(Stream.of("checkpoint", command), Stream.of(paths).map(Path::toString))
        .toArray(String[]::new));
  }

  /** The hash of the parameters of a snapshot, of its export. */
  private static String hash(Path snapshot) {
    Path model = snapshot.resolveSibling("export-of-" + snapshot.getFileName());
    CommandLineRun export = checkpoint("export", snapshot, model);
    assertThat(export.failure()).isEmpty();
    return ManifestFile.read(model).getString("parameters_hash");
  }

  /** A table whose rows are admitted late, counted, and go behind every pass. */
  private static RunResult lived(String output, String... keys) {
    String life = "tables.embedding.life.";
    String[] lives = {"epochs=2", "snapshots.every_steps=10", "snapshots.keep=1", life + "statistics=true",
        life + "admit_count=2", life + "shrink_score=20", "shrink_each_pass=true"};
    return run(output, Stream.concat(Stream.of(lives), Stream.of(keys)).toArray(String[]::new));
  }

  /**
   * Two epochs of 31 steps: the run resumes within the first, on another number of shards, and passes into the second.
   */
  @Test
  void a_run_that_was_stopped_and_goes_on_ends_with_the_bits_of_the_unbroken_one() throws IOException {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    RunResult unbroken = lived("unbroken", "max_steps=45");
    assertThat(unbroken.metrics().get("rows_removed")).isPositive();
    lived("stopped", "max_steps=20");
    assertThat(snapshots("stopped")).containsExactly("step-000000020");
    Path snapshot = dir.resolve("stopped/step-000000020");
    Manifest manifest = Manifest.read(snapshot);
    assertThat(manifest.step()).isEqualTo(20);
    assertThat(manifest.fuzzy()).isFalse();
    assertThat(manifest.trainers()).extracting(t -> t.progress().localSteps()).containsExactly(20L, 20L);

    Path left = Files.createDirectories(dir.resolve("stopped/step-000000030." + manifest.run() + "-rank0-5.part"));
    lived("stopped", "max_steps=40", "resume=auto", "servers=1", "shards=3");
    assertThat(left).as("of the life that was killed").doesNotExist();
    Path second = dir.resolve("stopped/step-000000040");
    assertThat(Manifest.read(second).trainers().get(0).cursor().getInteger("pass")).isEqualTo(1);
    assertThat(snapshots("stopped")).contains("step-000000040").doesNotContain("step-000000020");
    assertThat(hash(second)).isEqualTo(hash(dir.resolve("unbroken/step-000000040")));

    RunResult resumed = lived("stopped", "max_steps=45", "resume=" + second.getParent() + "/./" + second.getFileName());
    assertThat(resumed.steps()).isEqualTo(45);
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
    threads.assertNone();
  }

  /** Rewrites a manifest as releases before regatta-snapshot-2 did. */
  private static void asVersion1(Path snapshot) throws IOException {
    JsonObject json = ManifestFile.read(snapshot).put("format", "regatta-snapshot-1");
    json.remove("optimizer_updates");
    for (Object each : json.getJsonArray("trainers")) {
      JsonObject trainer = (JsonObject) each;
      trainer.put("steps", trainer.remove("local_steps"));
      List.of("exchanges", "learning_rate_step", "clocks", "replicas").forEach(trainer::remove);
    }
    ManifestFile.write(snapshot.resolve(ManifestFile.NAME), json);
  }

  @Test
  void resumesFromASnapshotOfVersion1_withTheBitsOfTheUnbrokenRun() throws IOException {
    String[] every = {"epochs=2", "snapshots.every_steps=10"};
    RunResult unbroken = run("unbroken-1", Stream.concat(Stream.of(every), Stream.of("max_steps=45")).toArray(String[]::new));
    run("version-1", Stream.concat(Stream.of(every), Stream.of("max_steps=40")).toArray(String[]::new));
    asVersion1(dir.resolve("version-1/step-000000040"));
    RunResult resumed = run("version-1", Stream.concat(Stream.of(every), Stream.of("max_steps=45", "resume=auto"))
        .toArray(String[]::new));
    assertThat(resumed.steps()).isEqualTo(45);
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash());
  }

  @Test
  void refusesToResumeVersion1InGeoMode_andBeginsFromItsValues() throws IOException {
    String[] geo = {"mode=geo", "k_steps=3", "optimizer.kind=sgd", "sparse_optimizer.kind=sgd", "snapshots.every_steps=10"};
    run("geo-1", Stream.concat(Stream.of(geo), Stream.of("max_steps=10")).toArray(String[]::new));
    Path snapshot = dir.resolve("geo-1/step-000000010");
    asVersion1(snapshot);
    assertThatThrownBy(() -> run("geo-1", Stream.concat(Stream.of(geo), Stream.of("max_steps=20", "resume=auto"))
        .toArray(String[]::new))).isInstanceOf(InvalidInput.class).hasMessageContaining("init_from: " + snapshot);
    assertThat(run("geo-2", Stream.concat(Stream.of(geo), Stream.of("max_steps=5", "init_from=" + snapshot)).toArray(String[]::new))
        .steps()).isEqualTo(5);
  }

  /** A job of two days has the result of two jobs of a day each. */
  @Test
  void the_job_of_the_next_day_trains_on_from_rows_that_have_aged_and_shrunk() throws IOException {
    RunResult both = day("both", "epochs=2");
    RunResult first = day("day1", "epochs=1");
    Path snapshot = dir.resolve("day1/pass-00000");
    assertThat(first.metrics().get("rows_removed")).isPositive();
    assertThat(hash(snapshot)).isEqualTo(first.parametersHash());
    RunResult second = day("day2", "epochs=1", "init_from=" + snapshot);
    assertThat(second.metrics().get("rows_removed")).isPositive();
    assertThat(first.metrics().get("rows_removed") + second.metrics().get("rows_removed"))
        .isEqualTo(both.metrics().get("rows_removed"));
    assertThat(second.parametersHash()).isEqualTo(both.parametersHash());
  }

  private static RunResult day(String output, String... keys) {
    String[] every = {"optimizer.kind=sgd", "data.shuffle_buffer=0", "settings.train_rows=1000", "data.dir=" + dir.resolve("days"),
        "snapshots.every_pass=true", "shrink_each_pass=true", "tables.embedding.life.statistics=true", "tables.embedding.life.shrink_score=6"};
    return run(output, Stream.concat(Stream.of(every), Stream.of(keys)).toArray(String[]::new));
  }

  /** The same with tables in process, where batches are passed over, for each of two replicas takes its own. */
  @Test
  void a_run_alone_goes_on_as_well() {
    String[] keys = {"trainers=1", "servers=1", "threads=2", "snapshots.every_steps=10", "data.shuffle_buffer=0",
        "output=" + dir.resolve("alone"), "mode=sync"};
    String unbroken = alone(keys, "max_steps=30", "output=" + dir.resolve("alone-unbroken"));
    alone(keys, "max_steps=20");
    assertThat(alone(keys, "max_steps=30", "resume=auto")).isEqualTo(unbroken);
  }

  @Test
  void a_damaged_snapshot_is_named_with_the_one_before_it_and_how_to_use_that() throws IOException {
    String[] keys = {"trainers=1", "servers=1", "snapshots.every_steps=10", "data.shuffle_buffer=0",
        "output=" + dir.resolve("damaged"), "mode=sync"};
    String unbroken = alone(keys, "max_steps=25");
    Path root = dir.resolve("damaged");
    Path last = root.resolve("step-000000020");
    Path file = last.resolve("shard-00000-of-00001.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 3] ^= 4;
    Files.write(file, bytes);
    assertThatThrownBy(() -> alone(keys, "max_steps=25", "resume=auto")).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
        file + " is damaged", "whole one before it is " + root.resolve("step-000000010") + " (step 10)",
        "set resume: " + root.resolve("step-000000010") + ", and remove, or move away, " + last);
    Files.writeString(last.resolve(ManifestFile.NAME), "{");
    assertThatThrownBy(() -> alone(keys, "max_steps=25", "resume=auto")).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
        last + "/manifest.json is damaged", "name the last of those that can be read, " + root.resolve("step-000000010"));
    Files.move(last, dir.resolve("damaged-step-000000020"));
    List<String> phases = new ArrayList<>();
    Progress progress = new Progress() {
      @Override
      public void begin(String phase, long examples) {
        phases.add(phase + " " + examples);
      }

      @Override
      public void behind(long amount) {
        phases.add("behind " + amount);
      }
    };
    String[] resumed = Stream.concat(Stream.of(keys), Stream.of("max_steps=25", "resume=" + root.resolve("step-000000010")))
        .toArray(String[]::new);
    assertThat(LocalRun.run(Jobs.wideAndDeep(dir, resumed), null, progress).parametersHash()).isEqualTo(unbroken);
    assertThat(phases).as("steps of 64 examples").startsWith("train 1600", "behind 640");
  }

  /** A queue's place within a pass means nothing, so its batches are passed over; one thread reads them in order. */
  @Test
  void one_worker_that_reads_a_queue_goes_on_as_well() {
    String[] keys = {"trainers=1", "servers=1", "snapshots.every_steps=10", "data.shuffle_buffer=0", "data.reading=queue",
        "data.shard_by=file", "data.drop_last=false", "output=" + dir.resolve("queue"), "mode=sync"};
    String unbroken = alone(keys, "max_steps=30", "output=" + dir.resolve("queue-unbroken"));
    alone(keys, "max_steps=20");
    assertThat(alone(keys, "max_steps=30", "resume=auto")).isEqualTo(unbroken);
  }

  private static String alone(String[] keys, String... more) {
    String[] all = Stream.concat(Stream.of(keys), Stream.of(more)).toArray(String[]::new);
    return LocalRun.run(Jobs.wideAndDeep(dir, all), null, Progress.none()).parametersHash();
  }

  @Test
  void a_new_run_begins_with_the_parameters_of_another_and_with_its_own_steps() throws IOException {
    run("first", "snapshots.every_steps=10", "snapshots.deltas=2", "snapshots.keep=3", "max_steps=30");
    assertThat(snapshots("first")).containsExactly("step-000000010", "step-000000020", "step-000000030");
    Path last = dir.resolve("first/step-000000030");
    assertThat(Manifest.read(last).kind()).isEqualTo(SnapshotKind.DELTA);
    assertThat(checkpoint("verify", last).out()).contains("is whole");
    CommandLineRun inspected = checkpoint("inspect", dir.resolve("first")); // the model, and the snapshots in its directory
    assertThat(inspected.failure()).isEmpty();
    assertThat(inspected.out()).contains("step-000000010", "base", "delta", "parameters hash", "model-0000.params", "ids: ");
    assertThatThrownBy(() -> run("first", "snapshots.every_steps=5", "max_steps=5", "init_from=" + last))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("holds snapshot step-000000010").hasMessageContaining("resume: auto");
    assertThatThrownBy(() -> run("first", "snapshots.every_steps=5", "max_steps=35", "resume=" + dir.resolve("first/step-000000020")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("holds snapshot step-000000030");
    RunResult next = run("next", "init_from=" + dir.resolve("first"), "epochs=0", "job=next");
    assertThat(next.steps()).isZero();
    assertThat(next.parametersHash()).isEqualTo(hash(last));
    assertThatThrownBy(() -> Predictor.load(dir.resolve("first/export-of-step-000000030"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("exported from a snapshot");

    Path merged = dir.resolve("merged");
    CommandLineRun ofDirectory = checkpoint("merge", dir.resolve("first"), dir.resolve("merged-last"));
    assertThat(ofDirectory.out()).contains("the last snapshot in " + dir.resolve("first") + " is step-000000030, step 30");
    assertThat(Manifest.read(dir.resolve("merged-last")).step()).isEqualTo(30);
    assertThat(checkpoint("merge", last, merged).failure()).isEmpty();
    CommandLineRun reshard = CommandLineRun.regatta("checkpoint", "reshard", merged.toString(), dir.resolve("five").toString(),
        "--shards", "5");
    assertThat(reshard.out()).contains("5 files");
    assertThat(hash(dir.resolve("five"))).isEqualTo(next.parametersHash());
    assertThat(checkpoint("inspect", dir.resolve("five")).out()).contains("adam with 2 slots", "adagrad with 1 slots");

    Path file = dir.resolve("five/shard-00003-of-00005.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 3] ^= 4;
    Files.write(file, bytes);
    CommandLineRun verify = checkpoint("verify", dir.resolve("five"));
    assertThat(verify.status()).isEqualTo(1);
    assertThat(verify.failure()).contains(file.toString(), "damaged in tensor table/");
    verify_looks_at_everything_in_a_directory(dir.resolve("first"));
  }

  /** A model, a base and two deltas, and a model made of the last. */
  private static void verify_looks_at_everything_in_a_directory(Path first) throws IOException {
    CommandLineRun all = checkpoint("verify", first);
    assertThat(all.status()).as(all.err()).isZero();
    assertThat(all.out().lines()).hasSize(6).contains(first + "/step-000000010 is whole: a snapshot of kind base, step 10",
        first + "/step-000000030 is whole: a snapshot of kind delta, step 30", "5 of 5 are whole")
        .anyMatch(line -> line.startsWith(first + " is whole: a model"));

    Path base = first.resolve("step-000000010/" + Manifest.read(first.resolve("step-000000010")).files().get(0).file());
    byte[] bytes = Files.readAllBytes(base);
    bytes[bytes.length - 3] ^= 4;
    Files.write(base, bytes);
    CommandLineRun damaged = checkpoint("verify", first);
    assertThat(damaged.status()).isEqualTo(1);
    assertThat(damaged.failure().lines()).hasSize(3).allMatch(line -> line.contains(base + " is damaged"));
    assertThat(damaged.failure()).contains("step-000000030 is relative to step-000000010, which is not whole");
    assertThat(damaged.out()).contains(first + " is whole: a model", "2 of 5 are whole");
    Files.delete(first.resolve("step-000000010/manifest.json"));
    assertThat(checkpoint("verify", first).failure()).contains(first + "/step-000000010 has no manifest.json");
    Files.move(first.resolve("step-000000010"), first.resolveSibling("base-of-first"));
    assertThat(checkpoint("verify", first).failure().lines()).hasSize(2).anyMatch(line -> line.startsWith(
        "regatta: " + first + "/step-000000020 is a delta relative to step-000000010, which is not there. "));
    assertThatThrownBy(() -> run("first", "snapshots.every_steps=10", "max_steps=40", "resume=auto")).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("step-000000030 is a delta, through step-000000020 relative to step-000000010, which is not there",
            "No whole one is before it in " + first);
  }

  @Test
  void passes_of_async_trainers_are_saved_when_all_have_handed_in_what_they_trained() throws IOException {
    RunResult run = run("async", "mode=async", "sparse_optimizer.kind=sgd", "optimizer.kind=sgd", "epochs=2",
        "snapshots.every_pass=true");
    assertThat(snapshots("async")).containsExactly("pass-00000", "pass-00001");
    Manifest last = Manifest.read(dir.resolve("async/pass-00001"));
    assertThat(last.fuzzy()).isFalse();
    assertThat(last.trainers()).extracting(t -> t.progress().localSteps()).containsOnly(run.steps());
    assertThat(last.trainers()).extracting(t -> t.cursor().mapTo(DataCursor.class)).containsOnly(DataCursor.startOf(2));
    assertThat(hash(dir.resolve("async/pass-00001"))).isEqualTo(run.parametersHash());
    RunResult again = run("async", "mode=async", "sparse_optimizer.kind=sgd", "optimizer.kind=sgd", "epochs=3",
        "snapshots.every_pass=true", "resume=" + dir.resolve("async"));
    assertThat(again.steps()).isEqualTo(run.steps() / 2 * 3);
  }
}
