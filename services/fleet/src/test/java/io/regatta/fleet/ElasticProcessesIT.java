package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An elastic job whose trainers are processes of their own. */
class ElasticProcessesIT {

  private static final int START_SECONDS = JavaProcess.SECONDS;
  private static final int END_SECONDS = 400;
  /** Far beyond the pause of a busy machine: a rank that waited for it would be noticed. */
  private static final int LEASE_MILLIS = 120_000;
  private static final int FAILURE_MILLIS = 3000;
  /** Steps of the 469 of a pass. */
  private static final int STEPS = 250;
  /** Added to each of them: a newcomer's process starts before they are over, however fast the machine is. */
  private static final int STEP_MILLIS = 60;

  @TempDir
  Path dir;
  private ServiceProcesses services;

  @BeforeEach
  void begin() {
    services = ServiceProcesses.fromClassPath(dir);
  }

  @AfterEach
  void end() {
    services.close();
  }

  private JsonObject job() throws Exception {
    return ServiceProcesses.job("lenet", List.of("trainers=4", "batch_size=32", "epochs=1",
        "max_steps=" + STEPS, "optimizer.schedule.decay_steps=" + (STEPS - 50), "data.dir=" + Jobs.data("mnist")))
        .put("collective", new JsonObject().put("min_trainers", 2));
  }

  private JavaProcess trainer(JsonObject job, int number, int rank) throws Exception {
    return services.start("trainer", "trainer-" + number, new JsonObject().put("job", job).put("rank", rank)
        .put("step_delay_ms", STEP_MILLIS).put("result", dir.resolve("result.json").toString()));
  }

  /** One of four is killed during training; the others continue, a new one joins, and the model is as good as ever. */
  @Test
  void who_is_killed_is_made_up_for_and_who_comes_is_let_in() throws Exception {
    JsonObject job = job();
    services.start("rendezvous", "rendezvous", new JsonObject().put("lease_ms", LEASE_MILLIS));
    List<JavaProcess> trainers = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      trainers.add(trainer(job, rank, rank));
    }
    JavaProcess first = trainers.get(0);
    first.await(line -> line.contains("[Epoch 0, batch 99]"), START_SECONDS);
    JavaProcess victim = trainers.remove(2);
    victim.signal("KILL");
    long killed = System.nanoTime();
    String over = first.await(line -> line.contains("with 4 trainers is over"), START_SECONDS);
    long noticed = System.nanoTime();
    String formed = first.await(line -> line.contains("has 3 trainers after 4"), START_SECONDS);
    String done = first.await(line -> line.contains("is done, with 3 trainers"), START_SECONDS);
    long goesOn = (System.nanoTime() - killed) / 1_000_000;
    System.out.printf("noticed after %d ms, goes on after %d ms%n%s%n%s%n%s%n", (noticed - killed) / 1_000_000, goesOn, over, formed,
        done);
    assertThat(goesOn).as("nobody waits for the lease").isLessThan(LEASE_MILLIS / 2);
    trainers.add(trainer(job, 4, -1));
    String letIn = first.await(line -> line.contains("has 4 trainers after 3"), START_SECONDS);
    System.out.println(letIn);
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(END_SECONDS)).as(trainer.output()).isZero();
    }
    JsonNode result = new ObjectMapper().readTree(dir.resolve("result.json").toFile());
    System.out.println(result);
    assertThat(result.get("accuracy").asDouble()).as("undisturbed 0.97").isGreaterThanOrEqualTo(0.94);
    assertThat(result.get("trainers").asInt()).isEqualTo(4);
    assertThat(first.output()).contains("operations are done");
  }

  /** A frozen rank is cut off by the others within the failure timeout, and finds out when it resumes. */
  @Test
  void who_is_frozen_is_left_behind_and_ends_when_it_wakes() throws Exception {
    JsonObject job = job();
    job.getJsonObject("collective").put("failure_timeout_ms", FAILURE_MILLIS);
    job.put("epochs", 100).put("max_steps", 0);
    services.start("rendezvous", "rendezvous", new JsonObject().put("lease_ms", LEASE_MILLIS));
    List<JavaProcess> trainers = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      trainers.add(trainer(job, rank, rank));
    }
    JavaProcess first = trainers.get(0);
    first.await(line -> line.contains("[Epoch 0, batch 99]"), START_SECONDS);
    JavaProcess victim = trainers.get(3);
    victim.signal("STOP");
    long frozen = System.nanoTime();
    String done = first.await(line -> line.contains("is done, with 3 trainers"), START_SECONDS);
    long goesOn = (System.nanoTime() - frozen) / 1_000_000;
    System.out.printf("goes on after %d ms: %s%n", goesOn, done);
    assertThat(goesOn).as("nobody waits for the lease").isLessThan(LEASE_MILLIS / 2);
    victim.signal("CONT");
    assertThat(victim.status(START_SECONDS)).as(victim.output()).isEqualTo(1);
    assertThat(victim.output()).containsAnyOf("removed by the rendezvous", "has not formed, or has formed without this one");
    trainer(job, 4, -1);
    first.await(line -> line.contains("has 4 trainers after 3"), START_SECONDS);
  }
}
