package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes of a job that are ended by {@code kill -9} in mid-run: status, result and model of those that are left. Needs the packaged jars. */
class LostProcessesIT {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private ServiceProcesses services;

  @BeforeEach
  void begin() {
    services = new ServiceProcesses(dir);
  }

  @AfterEach
  void end() {
    services.close();
  }

  private JavaProcess rendezvous() throws Exception {
    return services.start("rendezvous", "rendezvous", new JsonObject());
  }

  private void server() throws Exception {
    services.start("parameter-server", "server", new JsonObject().put("index", 0).put("servers", 1).put("shards", 1))
        .await(line -> line.startsWith("ready parameter-server"), SECONDS);
  }

  /** Two trainers of a sync job that takes some 10 s. */
  private List<JavaProcess> trainers(String job, String onTrainerLost) throws Exception {
    List<String> keys = new ArrayList<>(Jobs.tiny(dir.resolve(job)));
    keys.addAll(List.of("job=" + job, "mode=sync", "aggregator=false", "trainers=2", "servers=1", "epochs=10",
        "on_trainer_lost=" + onTrainerLost));
    List<JavaProcess> trainers = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(services.start("trainer", job + "-" + rank, new JsonObject().put("job", ServiceProcesses.job("wide-and-deep", keys))
          .put("rank", rank).put("step_delay_ms", 30).put("result", dir.resolve(job + ".json").toString())));
    }
    return trainers;
  }

  /** Waits until some steps have been made; a line of progress comes every 2 s. */
  private static void trains(JavaProcess trainer) throws Exception {
    trainer.await(line -> line.contains("train, trainer 0 of 2: ") && !line.contains(": 0/"), SECONDS);
  }

  private void assertWhole(String job) throws Exception {
    CommandLineRun verified = CommandLineRun.regatta("checkpoint", "verify", dir.resolve(job).resolve("output").toString());
    assertThat(verified.status()).as(verified.out() + verified.err()).isZero();
  }

  @Test
  void when_the_rendezvous_is_killed_then_the_model_is_saved_and_what_is_missing_is_named() throws Exception {
    JavaProcess rendezvous = rendezvous();
    server();
    List<JavaProcess> trainers = trainers("job", "fail");
    trains(trainers.get(0));
    rendezvous.signal("KILL");
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isEqualTo(1);
    }
    assertThat(trainers.get(0).output()).contains("trainer 0 of job job has saved the model, as the trainers have trained it, in ",
        "; the result is missing (metrics over all trainers, hash), because the trainers could not meet: ");
    assertThat(trainers.get(1).output()).contains("trainer 1 of job job has ended, and leaves the model to the lowest trainer to save");
    assertThat(dir.resolve("job.json")).doesNotExist();
    assertWhole("job");
  }
}
