package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ClassArchiveTest {

  @TempDir
  Path home;

  @Test
  void when_there_are_files_of_many_class_paths_then_those_that_were_used_last_are_kept() throws IOException {
    Files.writeString(home.resolve("lock"), "");
    for (String name : List.of("first", "second", "third", "fourth", "killed")) {
      Files.writeString(Files.createDirectory(home.resolve(name)).resolve("classes.jsa"), name);
    }
    int at = 0;
    for (String name : List.of("second", "first", "fourth", "third")) {
      Path complete = Files.writeString(home.resolve(name).resolve("complete"), "used");
      assertThat(complete.toFile().setLastModified(1_000_000 + 1000L * at++)).isTrue();
    }
    ClassArchive.removeOld(home);
    try (var left = Files.list(home)) {
      assertThat(left.map(path -> path.getFileName().toString())).containsExactlyInAnyOrder("lock", "first", "fourth", "third");
    }
  }
}
