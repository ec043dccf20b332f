package io.regatta.core.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnfinishedFileTest {

  @TempDir
  Path dir;

  /** Another process, which writes until it is killed. */
  static final class Writer {
    public static void main(String[] args) throws IOException {
      UnfinishedFile file = UnfinishedFile.of(Path.of(args[0]));
      file.stream().write(1);
      System.out.println("writing");
      System.in.read();
    }
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(dir)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  @Test
  void aFileIsThereWhenItIsWhole_andWhatFailsLeavesNothing() throws IOException {
    Path file = dir.resolve("data");
    try (UnfinishedFile unfinished = UnfinishedFile.of(file)) {
      unfinished.stream().write("half".getBytes(StandardCharsets.US_ASCII));
      assertThat(file).doesNotExist();
    }
    assertThat(names()).isEmpty();
    try (UnfinishedFile unfinished = UnfinishedFile.of(file)) {
      unfinished.stream().write("whole".getBytes(StandardCharsets.US_ASCII));
      assertThat(unfinished.publish()).isEqualTo(5);
    }
    assertThat(file).hasContent("whole");
    assertThat(names()).containsExactly("data");
  }

  @Test
  void whatADeadWriterHasLeftIsRemoved_whatThisProcessWritesOrIsNotAskedForStays() throws IOException {
    Files.createFile(dir.resolve(".data." + UUID.randomUUID() + ".unfinished"));
    String others = ".others." + UUID.randomUUID() + ".unfinished";
    Files.createFile(dir.resolve(others));
    Files.createFile(dir.resolve("data.unfinished"));
    try (UnfinishedFile mine = UnfinishedFile.of(dir.resolve("data"))) {
      UnfinishedFile.removeLeft(dir, "data"::equals);
      assertThat(names()).hasSize(3).contains(others, "data.unfinished");
      mine.publish();
    }
    assertThat(names()).containsExactly(others, "data", "data.unfinished");
  }

  @Test
  void whatAnotherProcessWritesStaysUntilThatIsDead() throws Exception {
    Process writer = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
        System.getProperty("java.class.path"), Writer.class.getName(), dir.resolve("data").toString()).start();
    try (BufferedReader out = new BufferedReader(new InputStreamReader(writer.getInputStream(), StandardCharsets.UTF_8))) {
      assertThat(out.readLine()).isEqualTo("writing");
      UnfinishedFile.removeLeft(dir, "data"::equals);
      assertThat(names()).hasSize(1);
    } finally {
      writer.destroyForcibly();
    }
    writer.waitFor();
    UnfinishedFile.removeLeft(dir, "data"::equals);
    assertThat(names()).isEmpty();
  }
}
