package io.regatta.data.format;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that ask for more than they hold, in a JVM whose heap is smaller than what they ask for. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class ParquetBombsTest {

  @Test
  void refusesEachFileInOneLine_whenItAsksForMoreThanItHolds(@TempDir Path dir) throws Exception {
    Path bombs = ParquetBombs.write(dir);
    Path out = dir.resolve("out");
    Process reader = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx64m",
        "-XX:+ExitOnOutOfMemoryError", "-cp", System.getProperty("surefire.test.class.path",
        System.getProperty("java.class.path")), ParquetBombs.class.getName(), bombs.toString())
        .redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      assertThat(reader.waitFor(90, TimeUnit.SECONDS)).as("no file is read for ever").isTrue();
    } finally {
      reader.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(out).stream().filter(line -> line.contains("\t")).toList();
    assertThat(reader.exitValue()).as("memory: %s", lines.isEmpty() ? out : lines.get(lines.size() - 1)).isZero();
    assertThat(lines).hasSize(files(bombs));
    assertThat(lines).allSatisfy(line -> assertThat(line.split("\t")[2]).contains(line.split("\t")[0])
        .doesNotContain("FAILED", "Error"));
  }

  private static int files(Path dir) throws IOException {
    try (var files = Files.list(dir)) {
      return (int) files.count();
    }
  }
}
