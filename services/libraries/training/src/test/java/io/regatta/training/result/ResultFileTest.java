package io.regatta.training.result;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultFileTest {

  @TempDir
  Path dir;

  @Test
  void isWrittenWholeAndLeavesNothingElse() throws Exception {
    Path file = dir.resolve("new/result.json");
    ResultFile checked = ResultFile.at(file);
    assertThat(file.getParent()).as("the check leaves nothing").doesNotExist();
    Files.createDirectory(file.getParent());
    Files.writeString(dir.resolve("new/result.json.part"), "of a run that was killed");
    RunResult run = LocalRun.run(JobConfig.of(new JsonObject().put("job", "brief")), worker -> { }, Progress.none());
    ResultFile.at(file).write(run);
    checked.write(run);
    assertThat(new JsonObject(Files.readString(file)).getString("job")).isEqualTo("brief");
    try (Stream<Path> files = Files.list(dir.resolve("new"))) {
      assertThat(files).containsExactly(file);
    }
  }

  @Test
  void aPlaceThatCannotBeWrittenIsRefusedBeforehand() throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "");
    assertThatThrownBy(() -> ResultFile.at(file.resolve("result.json"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(": it is a file; ").hasMessageContaining("choose another place");
    assertThatThrownBy(() -> ResultFile.at(dir)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("it is a directory");
    assertThatThrownBy(() -> ResultFile.at(Path.of("/proc/result.json"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no file can be made in /proc").message().doesNotContain(".part", "Exception");
  }
}
