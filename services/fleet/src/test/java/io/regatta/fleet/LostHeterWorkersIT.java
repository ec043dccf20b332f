package io.regatta.fleet;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.LogLines;
import io.regatta.training.result.RunResult;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A job with heter workers, of which processes are killed (SIGKILL) or stand still (SIGSTOP) in the middle. The test
 * checks what is lost, who reports it, and how the others end. What is not killed runs in this JVM.
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

  /** A job, with the services that it needs. */
  private final class Cluster implements AutoCloseable {
    final JsonObject job;
    final ServiceProcesses processes;
    final ServicesHere here;
    final LogLines lines = LogLines.ofProcess();
    final List<Future<RunResult>> trainers = new ArrayList<>();
    private final CountDownLatch trained = new CountDownLatch(1);

    /** Starts a rendezvous. */
    Cluster(String name, int readySeconds, List<String> keys) {
      job = ServiceProcesses.job(name, keys);
      processes = ServiceProcesses.fromClassPath(dir);
      here = ServicesHere.start(processes.seed(), readySeconds);
      here.rendezvous(new JsonObject().put("lease_ms", 4000));
    }

    /** Returns the section of a service that computes; it notices a frozen peer within seconds. */
    private JsonObject section() {
      JsonObject stream = new JsonObject().put("ping_interval_ms", 1000).put("ping_timeout_ms", 2500);
      return new JsonObject().put("job", job).put("stream", stream);
    }

    private JsonObject trainer(int rank) {
      return section().put("rank", rank).put("step_delay_ms", STEP_MILLIS);
    }

    JsonObject server() {
      return new JsonObject().put("index", 0).put("servers", 1).put("shards", 1);
    }

    Future<String> heterWorkerHere() {
      return here.heterWorker(section().put("index", 0));
    }

    JavaProcess heterWorker(int index) throws Exception {
      return processes.start("heter-worker", "heter-" + index, section().put("index", index));
    }

    JavaProcess trainerProcess(int rank) throws Exception {
      return processes.start("trainer", "trainer-" + rank, trainer(rank));
    }

    void trainersHere(int count) {
      for (int rank = 0; rank < count; rank++) {
        trainers.add(here.trainer(trainer(rank), rank > 0 ? Progress.none() : new Progress() {
          @Override
          public void advance(long amount) {
            trained.countDown();
          }
        }));
      }
    }

    /** Waits until the first trainer has made a step. */
    void awaitTraining() throws Exception {
      assertThat(trained.await(SECONDS, TimeUnit.SECONDS)).as(String.join("\n", lines.lines())).isTrue();
    }

    void awaitLine(Predicate<String> line) throws Exception {
      awaitTrue(() -> lines.lines().stream().anyMatch(line), () -> String.join("\n", lines.lines()));
    }

    @Override
    public void close() {
      lines.close();
      here.close();
      processes.close();
    }
  }

  private static List<String> keys(String mode, int trainers, int heterWorkers, String... own) {
    List<String> keys = new ArrayList<>(Jobs.tiny(data));
    keys.addAll(List.of("epochs=2", "mode=" + mode, "output=", "servers=1", "trainers=" + trainers, "aggregator=false",
        "on_trainer_lost=continue", "overlap=false", "heter.seed_batches=true", "settings.train_rows=2560"));
    keys.add("heter.workers=" + heterWorkers);
    keys.addAll(List.of(own));
    return keys;
  }

  /** Computes a hash of two trainers' sync job once. */
  private static String hash(String name) {
    return HASHES.computeIfAbsent(name, job -> LocalCluster.run(LocalCluster.Options.of(Jobs.config(job,
        keys("sync", 2, 0).toArray(String[]::new))).withoutHazelcast().withProgress(Progress.none())).get(0)
        .parametersHash());
  }

  private static <T> Future<T> ended(Future<T> future) throws Exception {
    awaitTrue(future::isComplete);
    return future;
  }

  private static RunResult result(Future<RunResult> trainer) throws Exception {
    Future<RunResult> end = ended(trainer);
    assertThat(end.succeeded()).as(String.valueOf(end.cause())).isTrue();
    return end.result();
  }

  private static void ends(JavaProcess process, int status) throws Exception {
    assertThat(process.status(SECONDS)).as(process.output()).isEqualTo(status);
  }

  /** Trainer 1 begins at heter worker 1, moves to 2, which has no trainer, and then to 0. */
  @ParameterizedTest
  @CsvSource({"wide-and-deep, sync, trainers", "wide-and-deep, async, trainers", "ctr-dnn, sync, servers"})
  void when_heter_workers_are_lost_one_after_another_then_the_next_continues_their_work(String name, String mode,
      String dense) throws Exception {
    try (Cluster cluster = new Cluster(name, SECONDS, keys(mode, 2, 3, "heter.dense=" + dense))) {
      List<JavaProcess> workers = new ArrayList<>();
      for (int index = 0; index < 3; index++) {
        workers.add(cluster.heterWorker(index));
      }
      cluster.here.server(cluster.server());
      cluster.trainersHere(2);
      String expected = mode.equals("sync") ? hash(name) : "";
      cluster.awaitTraining();
      moves(cluster, workers, 1, "KILL", 2);
      moves(cluster, workers, 2, "STOP", 0);
      workers.get(0).signal("KILL");
      cluster.awaitLine(line -> line.contains("for another heter worker, since none is left"));
      JavaProcess next = cluster.heterWorker(3);
      for (Future<RunResult> trainer : cluster.trainers) {
        result(trainer);
      }
      RunResult end = cluster.trainers.get(0).result();
      if (mode.equals("sync")) {
        assertThat(end.parametersHash()).isEqualTo(expected);
      }
      assertThat(end.trainersAtEnd()).isEqualTo(2);
      ends(next, 0);
      workers.get(2).signal("CONT");
      ends(workers.get(2), 0);
    }
  }

  /** Ends or freezes trainer 1's heter worker, and waits until the trainer has gone to another one. */
  private static void moves(Cluster cluster, List<JavaProcess> workers, int from, String signal, int to)
      throws Exception {
    workers.get(from).signal(signal);
    cluster.awaitLine(line -> line.startsWith("trainer 1 of ") && line.contains("heter worker " + from + " at ")
        && line.contains(" is lost: ") && line.contains(" to heter worker " + to));
  }

  @Test
  void when_no_heter_worker_is_left_then_the_trainer_ends_and_says_what_to_do() throws Exception {
    try (Cluster cluster = new Cluster("wide-and-deep", 4, keys("sync", 1, 1))) {
      JavaProcess worker = cluster.heterWorker(0);
      worker.await(line -> line.startsWith("ready heter-worker"), SECONDS);
      cluster.here.server(cluster.server());
      cluster.trainersHere(1);
      cluster.awaitTraining();
      worker.signal("KILL");
      assertThat(ended(cluster.trainers.get(0)).cause()).hasMessageContaining("start a heter worker again");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sync", "async"})
  void when_trainers_are_lost_then_their_heter_worker_names_them_and_the_other_continues(String mode) throws Exception {
    try (Cluster cluster = new Cluster("wide-and-deep", SECONDS, keys(mode, 3, 1))) {
      JavaProcess frozen = cluster.trainerProcess(1);
      JavaProcess killed = cluster.trainerProcess(2);
      cluster.here.server(cluster.server());
      Future<String> worker = cluster.heterWorkerHere();
      cluster.trainersHere(1);
      cluster.awaitTraining();
      frozen.signal("STOP");
      killed.signal("KILL");
      for (int rank = 1; rank <= 2; rank++) {
        String lost = "trainer " + rank + " of job wide-and-deep is lost: ";
        cluster.awaitLine(line -> line.startsWith(lost));
      }
      assertThat(result(cluster.trainers.get(0)).trainersAtEnd()).isEqualTo(1);
      assertThat(ended(worker).succeeded()).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"KILL", "STOP"})
  void when_the_server_is_lost_then_the_trainers_and_with_them_the_heter_worker_end(String signal) throws Exception {
    try (Cluster cluster = new Cluster("wide-and-deep", SECONDS, keys("sync", 2, 1))) {
      JavaProcess server = cluster.processes.start("parameter-server", "server", cluster.server());
      Future<String> worker = cluster.heterWorkerHere();
      cluster.trainersHere(2);
      cluster.awaitTraining();
      server.signal(signal);
      for (Future<RunResult> trainer : cluster.trainers) {
        assertThat(ended(trainer).failed()).isTrue();
      }
      assertThat(ended(worker).cause()).hasMessageContaining("heter worker 0 ends: no trainer of job wide-and-deep has "
          + "ended its run with success");
    }
  }
}
