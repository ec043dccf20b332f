package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A job with heter workers, of which processes are killed (SIGKILL) or stand still (SIGSTOP) in the middle. The test
 * checks what is lost, which process reports it, and the exit status of the others.
 */
class LostHeterWorkersIT {

  private static final int SECONDS = JavaProcess.SECONDS;
  /** Added to each step, so that training is not over before a process is killed, however fast the machine is. */
  private static final int STEP_MILLIS = 150;

  @TempDir
  static Path data;
  /** Hashes of the parameters, by job, after an undisturbed run in sync mode without heter workers. */
  private static final Map<String, String> HASHES = new HashMap<>();
  @TempDir
  Path dir;
  private ServiceProcesses services;
  private JsonObject job;
  /** Seconds for which trainers wait for other services; 0 is the default. */
  private int patienceSeconds;
  private JavaProcess server;
  private final List<JavaProcess> workers = new ArrayList<>();
  private final List<JavaProcess> trainers = new ArrayList<>();

  @BeforeEach
  void begin() {
    services = ServiceProcesses.fromClassPath(dir);
  }

  @AfterEach
  void end() {
    services.close();
  }

  private static List<String> keys(String mode, int trainers, String... own) {
    List<String> keys = new ArrayList<>(Jobs.tiny(data));
    keys.addAll(List.of("epochs=2", "mode=" + mode, "output=", "servers=1", "trainers=" + trainers, "aggregator=false",
        "on_trainer_lost=continue", "overlap=false", "heter.seed_batches=true"));
    keys.addAll(List.of(own));
    return keys;
  }

  /** Computes a hash of two trainers' sync job once. */
  private static String hash(String name) {
    return HASHES.computeIfAbsent(name, job -> LocalCluster.run(LocalCluster.Options.of(Jobs.config(job,
        keys("sync", 2).toArray(String[]::new))).withoutHazelcast().withProgress(Progress.none())).get(0).parametersHash());
  }

  /** Starts a job, and waits until it trains. A frozen process is noticed within seconds. */
  private void start(String name, List<String> keys, int heterWorkers, int count) throws Exception {
    List<String> all = new ArrayList<>(keys);
    all.add("heter.workers=" + heterWorkers);
    job = ServiceProcesses.job(name, all);
    services.start("rendezvous", "rendezvous", new JsonObject().put("lease_ms", 5000));
    server = services.start("parameter-server", "server", new JsonObject().put("index", 0).put("servers", 1).put("shards", 1));
    for (int index = 0; index < heterWorkers; index++) {
      workers.add(worker(index));
    }
    for (JavaProcess worker : workers) {
      worker.await(line -> line.startsWith("ready heter-worker"), SECONDS);
    }
    server.await(line -> line.startsWith("ready parameter-server"), SECONDS);
    services.readyTimeout(patienceSeconds);
    for (int rank = 0; rank < count; rank++) {
      trainers.add(services.start("trainer", "trainer-" + rank, service().put("rank", rank).put("step_delay_ms", STEP_MILLIS)
          .put("result", rank == 0 ? dir.resolve("result.json").toString() : "")));
    }
    trainers.get(0).await(line -> line.contains(" train") && line.contains(" examples, ") && !line.contains(": 0/"), SECONDS);
  }

  private JsonObject service() {
    return new JsonObject().put("job", job).put("stream", new JsonObject().put("ping_interval_ms", 1000).put("ping_timeout_ms", 2000));
  }

  private JavaProcess worker(int index) throws Exception {
    return services.start("heter-worker", "heter-" + index, service().put("index", index));
  }

  private JsonNode result() throws Exception {
    return new ObjectMapper().readTree(dir.resolve("result.json").toFile());
  }

  private static void ends(JavaProcess process, int status) throws Exception {
    assertThat(process.status(SECONDS)).as(process.output()).isEqualTo(status);
  }

  /** Trainer 1 begins at heter worker 1, moves to 2, which has no trainer, and then to 0. */
  @ParameterizedTest
  @CsvSource({"wide-and-deep, sync, trainers", "wide-and-deep, async, trainers", "ctr-dnn, sync, servers"})
  void when_heter_workers_are_lost_one_after_another_then_the_next_continues_their_work(String name, String mode, String dense)
      throws Exception {
    start(name, keys(mode, 2, "heter.dense=" + dense), 3, 2);
    moves(1, "KILL", 2);
    moves(2, "STOP", 0);
    workers.get(0).signal("KILL");
    trainers.get(0).await(line -> line.contains("for another heter worker, since none is left"), SECONDS);
    JavaProcess next = worker(3);
    for (JavaProcess trainer : trainers) {
      ends(trainer, 0);
    }
    JsonNode result = result();
    if (mode.equals("sync")) {
      assertThat(result.get("parameters_hash").asText()).isEqualTo(hash(name));
    }
    assertThat(result.get("trainers_at_end").asInt()).isEqualTo(2);
    ends(next, 0);
    workers.get(2).signal("CONT");
    ends(workers.get(2), 0);
  }

  /** Ends or freezes trainer 1's heter worker, and waits until the trainer has gone to another one. */
  private void moves(int from, String signal, int to) throws Exception {
    workers.get(from).signal(signal);
    trainers.get(1).await(line -> line.contains("heter worker " + from + " at ") && line.contains(" is lost: ")
        && line.contains(" to heter worker " + to), SECONDS);
  }

  @Test
  void when_no_heter_worker_is_left_then_the_trainer_ends_and_says_what_to_do() throws Exception {
    patienceSeconds = 20; // of a trainer that starts when all others are ready
    start("wide-and-deep", keys("sync", 1), 1, 1);
    workers.get(0).signal("KILL");
    ends(trainers.get(0), 1);
    assertThat(trainers.get(0).output()).contains("start a heter worker again");
  }

  @ParameterizedTest
  @ValueSource(strings = {"sync", "async"})
  void when_trainers_are_lost_then_their_heter_worker_names_them_and_the_other_continues(String mode) throws Exception {
    start("wide-and-deep", keys(mode, 3), 1, 3);
    trainers.get(1).signal("STOP");
    trainers.get(2).signal("KILL");
    for (int rank = 1; rank <= 2; rank++) {
      String lost = "trainer " + rank + " of job wide-and-deep is lost: ";
      workers.get(0).await(line -> line.contains(lost), SECONDS);
    }
    ends(trainers.get(0), 0);
    assertThat(result().get("trainers_at_end").asInt()).isEqualTo(1);
    ends(workers.get(0), 0);
  }

  @ParameterizedTest
  @ValueSource(strings = {"KILL", "STOP"})
  void when_the_server_is_lost_then_the_trainers_and_with_them_the_heter_worker_end(String signal) throws Exception {
    start("wide-and-deep", keys("sync", 2), 1, 2);
    server.signal(signal);
    for (JavaProcess trainer : trainers) {
      ends(trainer, 1);
    }
    ends(workers.get(0), 1);
    assertThat(workers.get(0).output()).contains("heter worker 0 ends: no trainer of job wide-and-deep has ended its run with success");
  }
}
