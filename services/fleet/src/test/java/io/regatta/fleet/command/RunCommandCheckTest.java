package io.regatta.fleet.command;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The check of what a launcher is about to start. */
class RunCommandCheckTest {

  @TempDir
  Path dir;

  @Test
  void what_is_to_be_started_is_checked_by_its_own_variables_whether_its_role_is_given_or_not() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n")
        .toString();
    for (List<String> role : List.of(List.<String>of(), List.of("--role", "local"))) {
      List<String> arguments = Stream.concat(Stream.of(job), role.stream()).toList();
      RunCommand.check(arguments, Map.of());
      assertThatThrownBy(() -> RunCommand.check(arguments, Map.of("REGATTA_BATCH_SIZE", "-3"))).as("role %s", role)
          .isInstanceOf(InvalidInput.class).hasMessageContaining("batch_size");
    }
  }
}
