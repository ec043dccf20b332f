package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.protocol.snapshot.Manifest;
import io.regatta.protocol.snapshot.ManifestFile;
import io.regatta.protocol.snapshot.SnapshotKind;
import io.regatta.trainer.Progress;
import io.regatta.trainer.result.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots of a whole cluster in one JVM: runs that go on from them, and what the command line makes of them. */
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

  /** Two epochs of 31 steps: the run goes on within the first, on another number of shards, and passes into the second. */
  @Test
  void a_run_that_was_stopped_and_goes_on_ends_with_the_bits_of_the_unbroken_one() throws IOException {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    String[] both = {"epochs=2", "snapshots.every_steps=10", "snapshots.keep=1"};
    RunResult unbroken = run("unbroken", both[0], both[1], both[2], "max_steps=40");
    RunResult stopped = run("stopped", both[0], both[1], both[2], "max_steps=20");
    assertThat(snapshots("stopped")).containsExactly("step-000000020");
    Path snapshot = dir.resolve("stopped/step-000000020");
    Manifest manifest = Manifest.read(snapshot);
    assertThat(manifest.step()).isEqualTo(20);
    assertThat(manifest.fuzzy()).isFalse();
    assertThat(manifest.trainers()).extracting(Manifest.Trainer::steps).containsExactly(20L, 20L);
    assertThat(hash(snapshot)).isEqualTo(stopped.parametersHash());

    RunResult resumed = run("stopped", both[0], both[1], both[2], "max_steps=40", "resume=auto", "servers=1", "shards=3");
    assertThat(resumed.steps()).isEqualTo(40);
    assertThat(resumed.parametersHash()).isEqualTo(unbroken.parametersHash()).isNotEqualTo(stopped.parametersHash());
    assertThat(snapshots("stopped")).contains("step-000000040").doesNotContain("step-000000020");
    assertThat(hash(dir.resolve("stopped/step-000000040"))).isEqualTo(unbroken.parametersHash());
    threads.assertNone();
  }

  @Test
  void a_new_run_begins_with_the_parameters_of_another_and_with_its_own_steps() throws IOException {
    run("first", "snapshots.every_steps=10", "snapshots.deltas=2", "snapshots.keep=3", "max_steps=30");
    assertThat(snapshots("first")).containsExactly("step-000000010", "step-000000020", "step-000000030");
    Path last = dir.resolve("first/step-000000030");
    assertThat(Manifest.read(last).kind()).isEqualTo(SnapshotKind.DELTA);
    assertThat(checkpoint("verify", last).out()).contains("is whole");
    assertThat(checkpoint("inspect", dir.resolve("first")).out()).contains("step-000000010", "base", "delta");
    RunResult next = run("next", "init_from=" + dir.resolve("first"), "epochs=0", "job=next");
    assertThat(next.steps()).isZero();
    assertThat(next.parametersHash()).isEqualTo(hash(last));

    Path merged = dir.resolve("merged");
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
  }

  @Test
  void passes_of_async_trainers_are_saved_when_all_have_handed_in_what_they_trained() throws IOException {
    RunResult run = run("async", "mode=async", "sparse_optimizer.kind=sgd", "optimizer.kind=sgd", "epochs=2",
        "snapshots.every_pass=true");
    assertThat(snapshots("async")).containsExactly("pass-00000", "pass-00001");
    Manifest last = Manifest.read(dir.resolve("async/pass-00001"));
    assertThat(last.fuzzy()).isFalse();
    assertThat(last.trainers()).extracting(Manifest.Trainer::steps).containsOnly(run.steps());
    assertThat(hash(dir.resolve("async/pass-00001"))).isEqualTo(run.parametersHash());
    RunResult again = run("async", "mode=async", "sparse_optimizer.kind=sgd", "optimizer.kind=sgd", "epochs=3",
        "snapshots.every_pass=true", "resume=" + dir.resolve("async"));
    assertThat(again.steps()).isEqualTo(run.steps() / 2 * 3);
  }
}
