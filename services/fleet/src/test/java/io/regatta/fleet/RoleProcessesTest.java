package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers and trainers started one by one, each in a shell of its own, with only variables that define their parts. */
class RoleProcessesTest {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final String first = "127.0.0.1:" + FreePorts.one();
  private final String second = "127.0.0.1:" + FreePorts.one();

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private JavaProcess start(Map<String, String> variables, String... args) {
    JavaProcess process = JavaProcess.regatta(dir, variables, args);
    processes.add(process);
    return process;
  }

  /** Fleet's collective mode: the first trainer hosts the rendezvous, and stays until the others have left it. */
  @Test
  void trainers_that_exchange_among_themselves_meet_at_the_first_ones_endpoint() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\nbatch_size: 8\n"
        + "compute_threads: 1\n").toString();
    Path result = dir.resolve("result.json");
    List<JavaProcess> trainers = new ArrayList<>();
    for (int id = 0; id < 2; id++) {
      trainers.add(start(Map.of("PADDLE_TRAINER_ENDPOINTS", first + "," + second, "PADDLE_TRAINER_ID", Integer.toString(id)),
          "run", job, "--result", result.toString()));
    }
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isZero();
    }
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getString("mode")).isEqualTo("collective");
    assertThat(figures.getInteger("trainers")).isEqualTo(2);
  }

  /** As mpirun starts them: each hosts a server, the first one the rendezvous, and they meet by the name of mpirun's job. */
  @Test
  void trainers_of_mpi_host_the_services_of_their_job() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\ntrainers: 1\n"
        + "batch_size: 8\ncompute_threads: 1\n").toString();
    JavaProcess lost = start(Map.of("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "3"), "run", job);
    assertThat(lost.status(SECONDS)).isEqualTo(2);
    assertThat(lost.output()).contains("give --seeds HOST:PORT with the machine of rank 0");
    Path result = dir.resolve("result.json");
    List<JavaProcess> trainers = new ArrayList<>();
    for (int rank = 0; rank < 3; rank++) {
      trainers.add(start(Map.of("OMPI_COMM_WORLD_RANK", Integer.toString(rank), "OMPI_COMM_WORLD_SIZE", "3",
          "OMPI_COMM_WORLD_LOCAL_SIZE", "3", "PMIX_NAMESPACE", dir.toString()), "run", job, "--result", result.toString()));
    }
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isZero();
      assertThat(trainer.output()).contains("Open MPI").doesNotContain(" is lost");
      assertThat(trainer.exceptions()).as(trainer.output()).isEmpty();
    }
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getInteger("trainers")).isEqualTo(3);
    assertThat(figures.getInteger("servers")).isEqualTo(3);
    assertThat(figures.getJsonObject("process_ids").fieldNames()).contains("rendezvous", "parameter-server-2", "trainer-2");
  }

  @Test
  void regatta_env_shows_what_each_variable_led_to() throws Exception {
    Map<String, String> variables = new LinkedHashMap<>(Map.of("PADDLE_PSERVERS_IP_PORT_LIST", first + "," + second,
        "PADDLE_TRAINERS_NUM", "2", "TRAINING_ROLE", "TRAINER"));
    variables.put("POD_IP", " ");
    variables.put("PADDLE_TRAINERS_NUM", "two");
    JavaProcess shown = start(variables, "env");
    assertThat(shown.status(SECONDS)).isEqualTo(2);
    assertThat(shown.output().lines()).as("each wrong variable").satisfiesExactly(
        line -> assertThat(line).startsWith("regatta: PADDLE_TRAINERS_NUM must be a whole number"),
        line -> assertThat(line).startsWith("regatta: Can not find PADDLE_TRAINER_ID"));
    variables.put("PADDLE_TRAINERS_NUM", "2");
    variables.put("PADDLE_TRAINER_ID", "1");
    shown = start(variables, "env");
    assertThat(shown.status(SECONDS)).isZero();
    assertThat(shown.output()).contains("PADDLE_TRAINER_ID").contains("fleet.id = 1");
    JavaProcess wrong = start(variables, "pserver", "--help");
    assertThat(wrong.status(SECONDS)).isZero();
  }
}
