package io.regatta.fleet.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.fleet.launch.plan.LaunchOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import sun.misc.Signal;
import sun.misc.SignalHandler;

/** The file with the token that a launch makes for its job. */
class JobTokenTest {

  private static final Signal TERM = new Signal("TERM");

  @TempDir
  Path dir;

  @Test
  void is_not_written_before_signals_are_caught() throws Exception {
    Path job = Files.writeString(dir.resolve("job.yaml"), "job: line\n");
    LaunchOptions given = Words.options("server_num=1", "worker_num=1");
    LaunchOptions options = new LaunchOptions(given.roles(), List.of(), null, given.meeting(), given.gpus(), "", null,
        "", LaunchOptions.NO_GLOO, dir.toString(), LaunchOptions.JOB_ID,
        job.toString(), List.of(), Map.of());
    SignalHandler mine = signal -> { };
    SignalHandler before = Signal.handle(TERM, mine);
    try {
      PrintWriter announcing = new PrintWriter(new StringWriter()) {
        @Override
        public void flush() {
          SignalHandler now = Signal.handle(TERM, mine);
          try (Stream<Path> files = Files.list(dir)) {
            assertThat(files).containsExactly(job);
          } catch (IOException e) {
            throw new AssertionError(e);
          }
          throw new IllegalStateException(now == mine ? "a signal would end this JVM" : "caught");
        }
      };
      assertThatThrownBy(() -> Launches.run(options, Words.JOB, "io.regatta.fleet.command.Regatta", true, environment -> { },
          null, announcing)).hasMessage("caught");
    } finally {
      Signal.handle(TERM, before);
    }
  }

  @Test
  void is_reported_when_it_cannot_be_deleted() throws Exception {
    StringWriter out = new StringWriter();
    try (JobToken token = JobToken.in(dir, new PrintWriter(out))) {
      Files.createDirectories(token.file().resolve("a-file-that-is-in-the-way"));
    }
    assertThat(out.toString()).startsWith("regatta: " + dir.toRealPath()).contains("cannot be deleted");
  }
}
