package io.regatta.fleet;

import io.regatta.trainer.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Ten jobs one after another in a JVM of its own, whose heap is touched whole at its start: what its resident set grows
 * by is then native memory. Prints {@code resident BYTES} after each, and {@code temporary NAMES}, all that
 * lies below {@code java.io.tmpdir}, which is its alone. Arguments: a directory for data and output.
 */
final class TenJobs {

  private TenJobs() {}

  public static void main(String[] args) throws IOException {
    for (int i = 0; i < 10; i++) {
      LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(Path.of(args[0]), "max_steps=8",
          ResourcesTest.IDLE)).withProgress(Progress.none()));
      for (int k = 0; k < 3; k++) {
        System.gc();
      }
      System.out.println("resident " + residentBytes());
      System.out.println("temporary " + temporaryFiles());
    }
    System.out.println("done");
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
