package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.LeftoverThreads;
import io.regatta.trainer.Progress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job that ends leaves nothing behind, and ten of them one after another cost no more memory than three. */
class ResourcesTest {

  /** What jobs have by default, unlike those of other tests. */
  static final String IDLE = "model_thread_idle_ms=10000";

  @TempDir
  Path dir;

  private void job() {
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "max_steps=8", IDLE)).withProgress(Progress.none()));
  }

  @Test
  void ten_jobs_in_one_jvm() throws IOException {
    LeftoverThreads atFirst = LeftoverThreads.snapshot();
    job(); // classes, natives, and what they keep for good
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Set<String> temporary = temporaryFiles();
    Set<Integer> ports = listening();
    List<Long> heap = new ArrayList<>();
    for (int i = 2; i <= 10; i++) {
      job();
      heap.add(usedHeap());
    }
    threads.assertNone();
    assertThat(temporaryFiles()).isEqualTo(temporary);
    assertThat(listening()).isEqualTo(ports);
    assertThat(heap.get(8)).as("heap after the tenth job, bytes; all from the second: %s", heap)
        .isLessThanOrEqualTo(heap.get(1) + heap.get(1) / 20);
    atFirst.assertNone(); // model threads have waited for an eleventh job
  }

  @Test
  void ten_jobs_keep_to_the_native_memory_and_the_temporary_files_of_three() throws Exception {
    String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Path temporary = Files.createDirectory(dir.resolve("temporary"));
    List<Long> resident;
    List<String> left;
    try (JavaProcess jobs = JavaProcess.start("ten jobs", dir, JavaProcess.java("-Xms400m", "-Xmx400m",
        "-XX:+AlwaysPreTouch", "-Dregatta.root=" + Checkout.root(), "-Djava.io.tmpdir=" + temporary,
        "-Dvertx.cacheDirBase=" + temporary.resolve("vertx"), "-cp", classes, TenJobs.class.getName(), dir.toString()))) {
      jobs.await(line -> line.equals("done"), JavaProcess.SECONDS);
      resident = jobs.output().lines().filter(line -> line.startsWith("resident "))
          .map(line -> Long.parseLong(line.substring("resident ".length()))).toList();
      left = jobs.output().lines().filter(line -> line.startsWith("temporary ")).toList();
    }
    assertThat(left).hasSize(10);
    assertThat(left.get(9)).as("all below java.io.tmpdir after the tenth job").isEqualTo(left.get(2));
    assertThat(resident).hasSize(10);
    assertThat(resident.get(9)).as("resident set after the tenth job, bytes; all: %s", resident)
        .isLessThanOrEqualTo(resident.get(2) + resident.get(2) / 20);
  }

  /**
   * Returns the bytes of live objects. DJL's trainers and models have finalizers, and keep the data of their pass until
   * these have run: each collection waits for them, so that the next one finds what they have let go.
   */
  private static long usedHeap() {
    for (int i = 0; i < 3; i++) {
      System.gc();
      System.runFinalization();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** Where Vert.x keeps its files in this test's JVM; {@link TenJobs} has a temporary directory that is its alone. */
  private static Set<String> temporaryFiles() throws IOException {
    Path cache = Path.of(System.getProperty("vertx.cacheDirBase"));
    Set<String> names = new TreeSet<>();
    for (Path parent : List.of(cache.getParent(), cache)) {
      if (Files.isDirectory(parent)) {
        try (Stream<Path> files = Files.list(parent)) {
          files.map(Path::toString).filter(name -> name.contains("vertx-cache-")).forEach(names::add);
        }
      }
    }
    return names;
  }

  /** Ports on which this process listens: sockets of ours in state LISTEN (0A). */
  private static Set<Integer> listening() throws IOException {
    Set<String> ours;
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      ours = descriptors.map(ResourcesTest::target).filter(t -> t.startsWith("socket:["))
          .map(t -> t.replaceAll("\\D", "")).collect(Collectors.toSet());
    }
    Set<Integer> ports = new TreeSet<>();
    for (Path table : Stream.of("/proc/net/tcp", "/proc/net/tcp6").map(Path::of).filter(Files::exists).toList()) { // without IPv6 one
      for (String line : Files.readAllLines(table)) {
        String[] fields = line.strip().split("\\s+");
        if (fields.length > 9 && fields[3].equals("0A") && ours.contains(fields[9])) {
          ports.add(Integer.parseInt(fields[1].substring(fields[1].indexOf(':') + 1), 16));
        }
      }
    }
    return ports;
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException gone) {
      return "";
    }
  }

  @Test
  void listening_ports_are_seen() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      assertThat(listening()).contains(socket.getLocalPort());
    }
  }
}
