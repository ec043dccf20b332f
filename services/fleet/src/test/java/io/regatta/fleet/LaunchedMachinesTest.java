package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A job whose machines each have a launcher, as addresses of loopback. */
class LaunchedMachinesTest {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private final List<JavaProcess> launchers = new ArrayList<>();
  private final String server = "127.0.0.1:" + FreePorts.one();

  @AfterEach
  void end() {
    launchers.forEach(JavaProcess::close);
  }

  private JavaProcess launch(String host, String job) {
    JavaProcess launcher = JavaProcess.regatta(dir, Map.of(), "launch", "--servers", server, "--workers", "127.0.0.1,127.0.0.2", "--host",
        host, "--log_dir", "log-" + host, job);
    launchers.add(launcher);
    return launcher;
  }

  @Test
  void a_machine_asks_its_server_whether_the_other_machines_trainer_has_left_before_it_ends_it() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\nmode: async\n"
        + "batch_size: 8\ncompute_threads: 1\n").toString();
    JavaProcess first = launch("127.0.0.1", job);
    JavaProcess second = launch("127.0.0.2", job);
    assertThat(first.status(SECONDS)).as(first.output()).isZero();
    assertThat(second.status(SECONDS)).as(second.output()).isZero();
    assertThat(first.output()).contains("its parameter servers stay until those of other machines have left them",
        "all workers exit, going to finish parameter server", "all parameter server are killed").doesNotContain("it cannot be seen");
    assertThat(second.output()).doesNotContain("parameter server are");
  }
}
