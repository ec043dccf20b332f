package io.regatta.fleet;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.LeftoverThreads;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Ten jobs one after another in a JVM of its own. Its heap is touched whole at the start, so growth of the resident set
 * is native memory. Prints after each job {@code heap BYTES} of live objects, {@code resident BYTES},
 * {@code temporary NAMES}, all files below {@code java.io.tmpdir}, which is its alone, and {@code listening PORTS}.
 * Fails if the nine jobs after the first leave a thread. The first may leave model threads, which wait for a next job,
 * but none in the end. Arguments: a directory for data and output.
 */
final class TenJobs {

  /** The default of jobs, unlike those of other tests. */
  private static final String IDLE = "model_thread_idle_ms=10000";

  private TenJobs() {}

  public static void main(String[] args) throws IOException {
    LeftoverThreads atFirst = LeftoverThreads.snapshot();
    LeftoverThreads behindOne = null;
    for (int i = 0; i < 10; i++) {
      LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(Path.of(args[0]), "max_steps=8", IDLE))
          .withProgress(Progress.none()));
      System.out.println("heap " + liveBytes());
      System.out.println("resident " + residentBytes());
      System.out.println("temporary " + temporaryFiles());
      System.out.println("listening " + ListeningPorts.all());
      if (i == 0) {
        behindOne = LeftoverThreads.snapshot();
      }
    }
    behindOne.assertNone();
    atFirst.assertNone();
  }

  /**
   * Returns the bytes of live objects. DJL's trainers and models have finalizers, and keep the data of their pass until
   * these have run. So each collection waits for them, and the next one finds the released data.
   */
  private static long liveBytes() {
    for (int i = 0; i < 3; i++) {
      System.gc();
      System.runFinalization();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  private static List<Path> temporaryFiles() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of(System.getProperty("java.io.tmpdir")))) {
      return files.sorted().toList();
    }
  }

  /** VmRSS of this process; Linux only. */
  private static long residentBytes() throws IOException {
    return Files.readAllLines(Path.of("/proc/self/status")).stream().filter(line -> line.startsWith("VmRSS:"))
        .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) * 1024).findFirst().orElseThrow();
  }
}
