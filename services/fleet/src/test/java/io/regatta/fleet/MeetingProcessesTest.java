package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta launch} on machines that know a master alone, and trainers that are started again. */
class MeetingProcessesTest {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private JavaProcess launch(String... args) {
    List<String> all = new ArrayList<>(List.of("launch"));
    all.addAll(List.of(args));
    JavaProcess process = JavaProcess.regatta(dir, Map.of(), all.toArray(String[]::new));
    processes.add(process);
    return process;
  }

  private String job(String more) throws Exception {
    return Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\nmode: collective\n"
        + "batch_size: 8\ncompute_threads: 1\n" + more).toString();
  }

  @Test
  void two_machines_meet_at_the_master() throws Exception {
    String job = job("");
    String master = "127.0.0.1:" + FreePorts.one();
    Path result = dir.resolve("r.json");
    List<JavaProcess> machines = new ArrayList<>();
    for (int rank = 1; rank >= 0; rank--) {
      machines.add(launch("--master", master, "--nnodes", "2", "--rank", Integer.toString(rank), "--nproc_per_node", "1", "--log_dir",
          "log" + rank, job, "--result", result.toString()));
    }
    for (JavaProcess machine : machines) {
      assertThat(machine.status(SECONDS)).as(machine.output()).isZero();
    }
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getString("mode")).isEqualTo("collective");
    assertThat(figures.getInteger("trainers")).isEqualTo(2);
    assertThat(machines.get(1).output()).contains("PADDLE_MASTER", "PADDLE_TRAINER_ID");
    assertThat(dir.resolve("log0/masterlog.0")).isNotEmptyFile();
    assertThat(dir.resolve("log1/masterlog.0")).doesNotExist();
  }

  private static long generation(String line) {
    Matcher generation = Pattern.compile("generation (\\d+) has").matcher(line);
    return generation.find() ? Long.parseLong(generation.group(1)) : -1;
  }

  @Test
  void a_trainer_of_an_elastic_job_that_is_killed_is_started_again_and_joins_the_others() throws Exception {
    JavaProcess launch = launch("--nproc_per_node", "2", "--max_restart", "1", Files.writeString(dir.resolve("digits.yaml"), """
        job: digits
        program: io.regatta.program.LeNet
        mode: collective
        trainers: 2
        epochs: 1000000
        batch_size: 8
        collective:
          min_trainers: 1
        settings:
          train_images: 400
          test_images: 8
        """).toString());
    // The first worker's line, whichever rank it has got.
    long before = generation(launch.await(line -> line.contains("joined, 2 of 1 to 2 trainers")
        || line.contains("has 2 trainers after"), SECONDS));
    Matcher first = Pattern.compile("ready .*pid=(\\d+)").matcher(launch.await(line -> line.startsWith("ready "), SECONDS));
    assertThat(first.find()).isTrue();
    long running = Long.parseLong(first.group(1));
    for (ProcessHandle child : ProcessHandle.of(launch.pid()).orElseThrow().children().toList()) {
      boolean trains = Files.readString(Path.of("/proc", Long.toString(child.pid()), "cmdline")).contains("digits.yaml");
      assertThat(trains && child.pid() != running && !child.destroyForcibly()).isFalse();
    }
    launch.await(line -> line.contains("worker 1 was ended by signal 9, and is started again: 1 of 1 times"), SECONDS);
    launch.await(line -> line.contains("has 2 trainers after") && generation(line) > before, SECONDS);
    launch.signal("INT");
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(130);
  }
}
