package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.Snapshots;
import io.regatta.training.result.RunResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that writes snapshots all the time, and is killed: the last whole one is good, and training resumes from
 * it.
 */
class KilledSnapshotIT {

  private static final int START_SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;

  @Test
  void whoever_is_killed_while_writing_leaves_the_former_snapshot() throws Exception {
    Path output = Files.createDirectories(dir.resolve("output"));
    List<String> keys = new ArrayList<>(Jobs.tiny(dir));
    keys.addAll(List.of("mode=sync", "epochs=100", "snapshots.every_steps=1", "snapshots.keep=3"));
    List<String> command = JavaProcess.regattaCommand("-Xmx512m");
    command.addAll(List.of("simulate", Checkout.file("configs/wide-and-deep.yaml").toString()));
    keys.forEach(key -> command.addAll(List.of("--set", key)));
    try (JavaProcess process = JavaProcess.start("simulation", Checkout.root(), command);
        WatchService watch = output.getFileSystem().newWatchService()) {
      process.await(line -> line.contains("step-000000007 of job"), START_SECONDS);
      output.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
      Path part = stoppedInTheMiddle(process, output, watch);
      process.signal("KILL");
      process.status(START_SECONDS);
      assertThat(part).as("what was being written").isDirectory();
    }
    Snapshots.Found last = Snapshots.latest(output).orElseThrow();
    assertThat(last.manifest().step()).isGreaterThanOrEqualTo(7);
    SnapshotDirectory.verify(last.dir());
    RunResult resumed = LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "resume=auto",
        "epochs=100", "snapshots.every_steps=1", "max_steps=" + (last.manifest().step() + 2)))
        .withoutHazelcast().withProgress(Progress.none())).get(0);
    assertThat(resumed.steps()).isEqualTo(last.manifest().step() + 2);
    assertThat(Snapshots.latest(output).orElseThrow().manifest().step()).isEqualTo(last.manifest().step() + 2);
  }

  /** Stops the process when it begins a snapshot, until that is one which it has not yet given its name. */
  private static Path stoppedInTheMiddle(JavaProcess process, Path output, WatchService watch) throws Exception {
    while (true) {
      WatchKey key = watch.poll(START_SECONDS, TimeUnit.SECONDS);
      assertThat(key).as("a snapshot begins").isNotNull();
      for (WatchEvent<?> created : key.pollEvents()) {
        Path part = output.resolve(String.valueOf(created.context()));
        if (part.toString().endsWith(".part") && Files.exists(part)) {
          process.signal("STOP");
          if (Files.exists(part)) {
            return part;
          }
          process.signal("CONT");
        }
      }
      assertThat(key.reset()).isTrue();
    }
  }
}
