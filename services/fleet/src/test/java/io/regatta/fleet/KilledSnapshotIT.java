package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.protocol.snapshot.SnapshotDirectory;
import io.regatta.trainer.Progress;
import io.regatta.trainer.result.RunResult;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A process that writes snapshots all the time, and is killed: the last whole one is good, and training goes on from it. */
class KilledSnapshotIT {

  private static final int START_SECONDS = 90;

  @TempDir
  Path dir;

  @Test
  void whoever_is_killed_while_writing_leaves_the_former_snapshot() throws Exception {
    List<String> keys = new ArrayList<>(Jobs.tiny(dir));
    keys.addAll(List.of("mode=sync", "epochs=100", "snapshots.every_steps=1", "snapshots.keep=3"));
    List<String> command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx512m", "-cp", System.getProperty("java.class.path"), Regatta.class.getName(), "simulate",
        Checkout.file("configs/wide-and-deep.yaml").toString()));
    keys.forEach(key -> command.addAll(List.of("--set", key)));
    try (JavaProcess process = JavaProcess.start("simulation", Checkout.root(), command)) {
      process.await(line -> line.contains("step-000000007 of job"), START_SECONDS);
      process.signal("KILL");
      process.status(START_SECONDS);
    }
    Path output = dir.resolve("output");
    SnapshotDirectory.Found last = SnapshotDirectory.latest(output).orElseThrow();
    assertThat(last.manifest().step()).isGreaterThanOrEqualTo(7);
    SnapshotDirectory.verify(last.dir());
    RunResult resumed = LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "resume=auto",
        "epochs=100", "snapshots.every_steps=1", "max_steps=" + (last.manifest().step() + 2)))
        .withoutHazelcast().withProgress(Progress.none())).get(0);
    assertThat(resumed.steps()).isEqualTo(last.manifest().step() + 2);
    assertThat(SnapshotDirectory.latest(output).orElseThrow().manifest().step()).isEqualTo(last.manifest().step() + 2);
  }
}
