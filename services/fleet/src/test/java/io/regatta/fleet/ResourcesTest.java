package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job that ends leaves nothing behind, and ten of them one after another cost no more memory than three. */
class ResourcesTest {

  private static final String LAST = "after the tenth job; all: %s";

  @TempDir
  Path dir;

  @Test
  void ten_jobs_in_one_jvm() throws Exception {
    String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    Path temporary = Files.createDirectory(dir.resolve("temporary"));
    try (JavaProcess jobs = JavaProcess.start("ten jobs", dir, JavaProcess.java("-Xms400m", "-Xmx400m",
        "-XX:+AlwaysPreTouch", "-Dregatta.root=" + Checkout.root(), "-Djava.io.tmpdir=" + temporary,
        "-Dvertx.cacheDirBase=" + temporary.resolve("vertx"), "-cp", classes, TenJobs.class.getName(), dir.toString()))) {
      assertThat(jobs.status(JavaProcess.SECONDS)).as(jobs.output()).isZero();
      assertGrowsNoMore("live heap", values(jobs, "heap"));
      assertGrowsNoMore("resident set", values(jobs, "resident"));
      for (String kept : List.of("temporary", "listening")) {
        List<String> all = values(jobs, kept);
        assertThat(all.get(9)).as(kept + " " + LAST, all).isEqualTo(all.get(2));
      }
    }
  }

  /** Returns the values that the process has printed of this after each job. */
  private static List<String> values(JavaProcess jobs, String what) {
    List<String> all = jobs.output().lines().filter(line -> line.startsWith(what + " "))
        .map(line -> line.substring(what.length() + 1)).toList();
    assertThat(all).as(what).hasSize(10);
    return all;
  }

  private static void assertGrowsNoMore(String what, List<String> bytes) {
    long third = Long.parseLong(bytes.get(2));
    assertThat(Long.parseLong(bytes.get(9))).as(what + ", bytes, " + LAST, bytes).isLessThanOrEqualTo(third + third / 20);
  }

  @Test
  void listening_ports_are_seen() throws IOException {
    try (ServerSocket socket = new ServerSocket(0)) {
      assertThat(ListeningPorts.all()).contains(socket.getLocalPort());
    }
  }
}
