package io.regatta.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeFileTest {

  @TempDir
  Path dir;

  @Test
  void a_file_has_its_name_only_when_it_is_complete() throws IOException {
    Path file = dir.resolve("new/result");
    WholeFile.write(file, part -> {
      Files.writeString(part, "half");
      assertThat(file).doesNotExist();
      Files.writeString(part, "whole");
    });
    assertThat(file).hasContent("whole");
    WholeFile.write(file, part -> {
      Files.writeString(part, "another");
      assertThat(file).hasContent("whole");
    });
    assertThat(file).hasContent("another");
    assertThat(names(file.getParent())).containsExactly("result");
  }

  @Test
  void what_fails_leaves_what_was_there_and_nothing_else() throws IOException {
    Path file = Files.writeString(dir.resolve("result"), "before");
    assertThatThrownBy(() -> WholeFile.write(file, part -> {
      Files.writeString(part, "half");
      throw new IOException("disk full");
    })).hasMessage("disk full");
    assertThat(file).hasContent("before");
    assertThat(names(dir)).containsExactly("result");
  }

  @Test
  void several_who_write_at_a_time_do_not_meet() throws IOException {
    Path file = dir.resolve("data");
    WholeFile.writeAmongOthers(file, first -> {
      Files.writeString(first, "first");
      WholeFile.writeAmongOthers(file, second -> Files.writeString(second, "second"));
      assertThat(file).hasContent("second");
      assertThat(first).hasContent("first");
    });
    assertThat(file).hasContent("first");
    assertThat(names(dir)).containsExactly("data");
  }

  private static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(path -> path.getFileName().toString()).toList();
    }
  }
}
