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

/** Servers and trainers started by hand, each in a shell of its own, with nothing but variables that say who they are. */
class RoleProcessesTest {

  private static final int SECONDS = 90;

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

  private String job() throws Exception {
    return Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\ntrainers: 1\n"
        + "batch_size: 8\ncompute_threads: 1\n").toString();
  }

  private Map<String, String> shared() {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("PADDLE_PSERVERS_IP_PORT_LIST", first + "," + second);
    variables.put("PADDLE_TRAINERS_NUM", "2");
    return variables;
  }

  private JavaProcess server(String endpoint, String job) {
    Map<String, String> variables = shared();
    variables.put("TRAINING_ROLE", "PSERVER");
    variables.put("POD_IP", endpoint.substring(0, endpoint.indexOf(':')));
    variables.put("PADDLE_PORT", endpoint.substring(endpoint.indexOf(':') + 1));
    return start(variables, "run", job);
  }

  private JavaProcess trainer(int id, String job, String... more) {
    Map<String, String> variables = shared();
    variables.put("TRAINING_ROLE", "TRAINER");
    variables.put("PADDLE_TRAINER_ID", Integer.toString(id));
    List<String> args = new ArrayList<>(List.of("run", job));
    args.addAll(List.of(more));
    return start(variables, args.toArray(String[]::new));
  }

  /** PaddleRec's manual start; the job file says one trainer, which the variables correct. */
  @Test
  void two_servers_and_two_trainers_find_each_other_by_variables_alone() throws Exception {
    String job = job();
    Path result = dir.resolve("result.json");
    List<JavaProcess> trainers = List.of(trainer(0, job, "--result", result.toString()), trainer(1, job));
    trainers.get(0).await(line -> line.contains("server not ready, wait 3 sec to retry..."), SECONDS);
    trainers.get(0).await(line -> line.contains("not ready endpoints:['" + first + "'"), SECONDS);
    List<JavaProcess> servers = List.of(server(first, job), server(second, job));
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isZero();
    }
    JsonObject figures = new JsonObject(Files.readString(result));
    assertThat(figures.getInteger("trainers")).isEqualTo(2);
    assertThat(figures.getInteger("servers")).isEqualTo(2);
    assertThat(servers.get(1).output()).contains("PaddlePaddle Fleet (TRAINING_ROLE)",
        "Server listening on " + second + " selected port: " + second.substring(second.indexOf(':') + 1));
    assertThat(trainers.get(1).output()).contains("Communicator start", "init rpc client with trainer_id 1");
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

  @Test
  void what_is_wrong_is_one_line_and_status_two() throws Exception {
    Map<String, String> variables = shared();
    variables.put("TRAINING_ROLE", "TRAINER");
    JavaProcess trainer = start(variables, "run", job());
    assertThat(trainer.status(SECONDS)).isEqualTo(2);
    assertThat(trainer.output()).contains("regatta: Can not find PADDLE_TRAINER_ID, please check your environment.");
    JavaProcess shown = start(variables, "env");
    assertThat(shown.status(SECONDS)).isEqualTo(2);
    variables.put("PADDLE_TRAINER_ID", "1");
    shown = start(variables, "env");
    assertThat(shown.status(SECONDS)).isZero();
    assertThat(shown.output()).contains("PADDLE_TRAINER_ID").contains("fleet.id = 1");
    JavaProcess wrong = start(variables, "pserver", "--help");
    assertThat(wrong.status(SECONDS)).isZero();
  }
}
