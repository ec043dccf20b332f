package io.regatta.data.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.ClosedFileSystemException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class PipedFileTest {

  @TempDir
  Path dir;

  @Test
  void removes_settings_and_tokens_from_the_environment_of_the_command() {
    Map<String, String> environment = new HashMap<>(Map.of("REGATTA_NODE_TOKEN", "t", "REGATTA_NODE", "{}",
        "regatta_node_token", "t", "REGATTA_APP_LEVEL", "1", "PATH", "/bin", "HOME", "/home"));
    PipedFile.removeSettings(environment);
    assertThat(environment).containsOnlyKeys("REGATTA_APP_LEVEL", "PATH", "HOME");
  }

  @Test
  void whatFailsOnTheWayToTheCommandIsNotItsEnd() throws Exception {
    URI zip = URI.create("jar:" + dir.resolve("all.zip").toUri());
    Path file;
    try (FileSystem zipped = FileSystems.newFileSystem(zip, Map.of("create", "true"))) {
      file = Files.writeString(zipped.getPath("/a.txt"), "1 7 1 1\n");
    }
    try (PipedFile piped = new PipedFile(file, PipeCommand.of("cat -; exec sleep 600"))) {
      assertThatThrownBy(() -> piped.read(new byte[10], 0, 10)).isInstanceOf(IOException.class)
          .hasRootCauseInstanceOf(ClosedFileSystemException.class);
    }
  }
}
