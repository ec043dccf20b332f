package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that stand still for ten seconds (SIGSTOP) while they train: afterwards training continues, nothing is lost
 * and nothing is applied twice.
 */
class FrozenProcessesIT {
  private static final int START_SECONDS = JavaProcess.SECONDS;
  private static final int END_SECONDS = JavaProcess.SECONDS;
  /** Added to each step, so that 31 of them are not over before somebody is frozen, however fast the machine is. */
  private static final int STEP_MILLIS = 250;
  private static final int LONG_LEASE_MILLIS = 600_000;
  private static final Pattern LONG_WAIT = Pattern.compile("Waits trainer 0 waits at job.* step .*, since \\d{2,}");
  private static final Pattern ADMIN = Pattern.compile("admin=(\\d+)");
  private static final Pattern PUSHES = Pattern.compile("regatta_shard_pushes_total\\{.*\\} ([0-9.E]+)");

  @TempDir
  static Path data;
  /** Hash of the sync job's parameters after an undisturbed run. */
  private static String hash;
  @TempDir
  Path dir;
  private ServiceProcesses services;
  private final List<JavaProcess> servers = new ArrayList<>();
  private final List<JavaProcess> trainers = new ArrayList<>();

  @BeforeAll
  static void runUndisturbed() {
    hash = LocalCluster.run(LocalCluster.Options.of(Jobs.config("wide-and-deep", keys("sync").toArray(String[]::new)))
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

  /** The tiny wide & deep job, of one pass. */
  private static List<String> keys(String mode) {
    List<String> keys = new ArrayList<>(Jobs.tiny(data));
    keys.addAll(List.of("epochs=1", "mode=" + mode, "output="));
    return keys;
  }

  private void start(String mode, JsonObject rendezvous) throws Exception {
    services.start("rendezvous", "rendezvous", rendezvous);
    for (int i = 0; i < 2; i++) { // their indices come from the rendezvous, so that they hold leases there
      servers.add(services.start("parameter-server", "server-" + i, new JsonObject().put("servers", 2)));
    }
    JsonObject job = ServiceProcesses.job("wide-and-deep", keys(mode));
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(services.start("trainer", "trainer-" + rank, new JsonObject().put("job", job).put("rank", rank)
          .put("step_delay_ms", STEP_MILLIS).put("result", rank == 0 ? dir.resolve("result.json").toString() : "")));
    }
    trainers.get(0).await(line -> line.contains("wide-and-deep train, trainer 0 of 2:"), START_SECONDS);
  }

  /** Freezes a process until a trainer has said that it waits, which it does after ten seconds. */
  private static void freeze(JavaProcess process, JavaProcess waiting) throws Exception {
    process.signal("STOP");
    try {
      waiting.await(line -> LONG_WAIT.matcher(line).find(), START_SECONDS);
    } finally {
      process.signal("CONT");
    }
  }

  private JsonNode result() throws Exception {
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(END_SECONDS)).as(trainer.output()).isZero();
      assertThat(trainer.output()).doesNotContain(" is lost");
    }
    return new ObjectMapper().readTree(dir.resolve("result.json").toFile());
  }

  @Test
  void a_frozen_server_delays_a_sync_job_and_changes_no_bit() throws Exception {
    start("sync", new JsonObject());
    freeze(servers.get(1), trainers.get(0));
    JsonNode result = result();
    assertThat(result.get("parameters_hash").asText()).isEqualTo(hash);
    assertThat(result.get("trainers_at_end").asInt()).isEqualTo(2);
  }

  @Test
  void a_frozen_trainer_with_a_longer_lease_delays_a_sync_job_and_changes_no_bit() throws Exception {
    start("sync", new JsonObject().put("lease_ms", LONG_LEASE_MILLIS));
    freeze(trainers.get(1), trainers.get(0));
    JsonNode result = result();
    assertThat(result.get("parameters_hash").asText()).isEqualTo(hash);
    assertThat(result.get("trainers_at_end").asInt()).isEqualTo(2);
  }

  @Test
  void in_async_mode_each_push_is_applied_once_although_a_server_was_frozen() throws Exception {
    start("async", new JsonObject());
    freeze(servers.get(0), trainers.get(0));
    JsonNode result = result();
    long pushed = 2 * result.get("steps").asLong();
    for (JavaProcess server : servers) {
      assertThat(pushes(server)).isEqualTo(pushed);
    }
  }

  private long pushes(JavaProcess server) throws Exception {
    Matcher port = ADMIN.matcher(server.await(line -> line.startsWith("ready parameter-server"), 1));
    assertThat(port.find()).isTrue();
    String metrics = HttpClient.newHttpClient().send(
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port.group(1) + "/metrics")).build(),
        HttpResponse.BodyHandlers.ofString()).body();
    Matcher pushes = PUSHES.matcher(metrics);
    assertThat(pushes.find()).as(metrics).isTrue();
    return Math.round(Double.parseDouble(pushes.group(1)));
  }
}
