package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A job with heter workers, of which a process is killed (SIGKILL) or stands still (SIGSTOP) in the middle. The test
 * checks what is lost, which process reports it, and the exit status of the others.
 */
class LostHeterWorkersIT {

  private static final int SECONDS = JavaProcess.SECONDS;
  /** Added to each step, so that training is not over before a process is killed, however fast the machine is. */
  private static final int STEP_MILLIS = 150;

  @TempDir
  static Path data;
  /** Hash of the sync job's parameters after an undisturbed run without heter workers. */
  private static String hash;
  @TempDir
  Path dir;
  private ServiceProcesses services;
  private JavaProcess server;
  private final List<JavaProcess> workers = new ArrayList<>();
  private final List<JavaProcess> trainers = new ArrayList<>();

  @BeforeAll
  static void runWithoutACut() {
    hash = LocalCluster.run(LocalCluster.Options.of(Jobs.config("wide-and-deep", keys("sync", 0).toArray(String[]::new)))
        .withoutHazelcast().withProgress(Progress.none())).get(0).parametersHash();
  }

  @BeforeEach
  void begin() {
    services = ServiceProcesses.fromClassPath(dir);
  }

  @AfterEach
  void end() {
    services.close();
  }

  private static List<String> keys(String mode, int heterWorkers) {
    List<String> keys = new ArrayList<>(Jobs.tiny(data));
    keys.addAll(List.of("epochs=2", "mode=" + mode, "output=", "servers=1", "trainers=2", "aggregator=false", "on_trainer_lost=continue",
        "heter.seed_batches=true", "heter.workers=" + heterWorkers));
    return keys;
  }

  /** Starts a job, and waits until it trains. A frozen process is noticed within seconds. */
  private void start(String mode, int count) throws Exception {
    start(mode, count, 0);
  }

  /** @param patienceSeconds for which trainers wait for other services; 0: the default */
  private void start(String mode, int count, int patienceSeconds) throws Exception {
    services.start("rendezvous", "rendezvous", new JsonObject().put("lease_ms", 5000));
    server = services.start("parameter-server", "server", new JsonObject().put("index", 0).put("servers", 1).put("shards", 1));
    JsonObject job = ServiceProcesses.job("wide-and-deep", keys(mode, count));
    JsonObject stream = new JsonObject().put("ping_interval_ms", 1000).put("ping_timeout_ms", 2000);
    for (int index = 0; index < count; index++) {
      workers.add(services.start("heter-worker", "heter-" + index, new JsonObject().put("job", job).put("index", index)
          .put("stream", stream)));
    }
    for (JavaProcess worker : workers) {
      worker.await(line -> line.startsWith("ready heter-worker"), SECONDS);
    }
    server.await(line -> line.startsWith("ready parameter-server"), SECONDS);
    services.readyTimeout(patienceSeconds);
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(services.start("trainer", "trainer-" + rank, new JsonObject().put("job", job).put("rank", rank).put("stream", stream)
          .put("step_delay_ms", STEP_MILLIS).put("result", rank == 0 ? dir.resolve("result.json").toString() : "")));
    }
    trainers.get(0).await(line -> line.contains("train, trainer 0 of 2: ") && !line.contains(": 0/"), SECONDS);
  }

  private JsonNode result() throws Exception {
    return new ObjectMapper().readTree(dir.resolve("result.json").toFile());
  }

  private static void ends(JavaProcess process, int status) throws Exception {
    assertThat(process.status(SECONDS)).as(process.output()).isEqualTo(status);
  }

  @ParameterizedTest
  @CsvSource({"sync, KILL", "sync, STOP", "async, KILL", "async, STOP"})
  void when_one_of_two_heter_workers_is_lost_then_the_other_computes_for_all(String mode, String signal) throws Exception {
    start(mode, 2);
    workers.get(1).signal(signal);
    trainers.get(1).await(line -> line.contains("heter worker 1 at ") && line.contains(" is lost: ") && line.contains(" to heter worker 0"), SECONDS);
    for (JavaProcess trainer : trainers) {
      ends(trainer, 0);
    }
    JsonNode result = result();
    if (mode.equals("sync")) {
      assertThat(result.get("parameters_hash").asText()).isEqualTo(hash);
    }
    assertThat(result.get("trainers_at_end").asInt()).isEqualTo(2);
    ends(workers.get(0), 0);
    if (signal.equals("STOP")) {
      workers.get(1).signal("CONT");
      ends(workers.get(1), 0);
    }
  }

  @Test
  void when_the_last_heter_worker_is_lost_then_another_one_continues_its_work() throws Exception {
    start("sync", 1);
    workers.get(0).signal("KILL");
    trainers.get(0).await(line -> line.contains("for another heter worker, since none is left"), SECONDS);
    JsonObject job = ServiceProcesses.job("wide-and-deep", keys("sync", 1));
    JavaProcess next = services.start("heter-worker", "heter-next", new JsonObject().put("job", job));
    for (JavaProcess trainer : trainers) {
      ends(trainer, 0);
    }
    assertThat(result().get("parameters_hash").asText()).isEqualTo(hash);
    ends(next, 0);
  }

  @Test
  void when_no_heter_worker_is_left_then_the_trainers_end_and_say_what_to_do() throws Exception {
    start("sync", 1, 30);
    workers.get(0).signal("KILL");
    for (JavaProcess trainer : trainers) {
      ends(trainer, 1);
      assertThat(trainer.output()).contains("start a heter worker again");
    }
  }

  @ParameterizedTest
  @CsvSource({"sync, KILL", "sync, STOP", "async, KILL"})
  void when_a_trainer_is_lost_then_its_heter_worker_names_it_and_the_other_continues(String mode, String signal) throws Exception {
    start(mode, 1);
    trainers.get(1).signal(signal);
    workers.get(0).await(line -> line.contains("trainer 1 of job wide-and-deep is lost: "), SECONDS);
    ends(trainers.get(0), 0);
    assertThat(result().get("trainers_at_end").asInt()).isEqualTo(1);
    ends(workers.get(0), 0);
  }

  @Test
  void when_the_server_is_lost_then_the_trainers_and_with_them_the_heter_worker_end() throws Exception {
    start("sync", 1);
    server.signal("KILL");
    for (JavaProcess trainer : trainers) {
      ends(trainer, 1);
    }
    ends(workers.get(0), 1);
    assertThat(workers.get(0).output()).contains("heter worker 0 ends: no trainer of job wide-and-deep has ended its run with success");
  }
}
