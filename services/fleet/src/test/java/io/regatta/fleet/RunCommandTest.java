package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta run} and {@code train}: each part of a job as a process of its own, at fixed endpoints. */
class RunCommandTest {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final List<String> endpoints = List.of("--server-endpoints", "127.0.0.1:" + FreePorts.one(),
      "--rendezvous-endpoint", "127.0.0.1:" + FreePorts.one());

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private JavaProcess start(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(endpoints);
    return java(all.toArray(String[]::new));
  }

  private JavaProcess java(String... args) {
    JavaProcess process = JavaProcess.regatta(dir, Map.of(), args);
    processes.add(process);
    return process;
  }

  @Test
  void every_role_says_that_it_is_ready_and_the_lowest_trainer_writes_the_result() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n"
        + "trainers: 2\nbatch_size: 8\ncompute_threads: 1\n").toString();
    JavaProcess rendezvous = start("run", "--role", "rendezvous");
    JavaProcess server = start("run", "--role", "pserver", "--id", "0", job);
    List<JavaProcess> trainers = List.of(
        start("run", "--role", "trainer", "--id", "0", job, "--result", dir.resolve("r0.json").toString()),
        start("train", job, "--id", "1", "--result", dir.resolve("r1.json").toString()));
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isZero();
      ready(trainer, "trainer");
    }
    assertThat(new JsonObject(Files.readString(dir.resolve("r0.json"))).getInteger("trainers_at_end")).isEqualTo(2);
    assertThat(dir.resolve("r1.json")).doesNotExist();
    assertThat(trainers.get(0).output()).contains("trainer 0 has written the result of job line to " + dir.resolve("r0.json"));
    ready(rendezvous, "rendezvous");
    ready(server, "parameter-server");
    assertThat(server.status(SECONDS)).as("it ends with its job: %s", server.output()).isZero();
    assertThat(server.output()).contains("parameter server 0 ends: the trainers of job line have closed");
    showsItself(rendezvous);
  }

  @Test
  void a_signal_is_answered_with_one_line() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n"
        + "epochs: 1000000\n").toString();
    Map<JavaProcess, String> running = Map.of(
        java("train", job, "--local"), "dense values in",
        java("simulate", job), "dense values in",
        java("run", "--role", "pserver", "--id", "0", "--seeds", "127.0.0.1:" + FreePorts.one()), "waits to join",
        java("pserver", "--seeds", "127.0.0.1:" + FreePorts.one()), "waits to join");
    for (Map.Entry<JavaProcess, String> each : running.entrySet()) {
      each.getKey().await(line -> line.contains(each.getValue()), SECONDS);
      each.getKey().signal("INT");
      assertThat(each.getKey().status(SECONDS)).as(each.getKey().output()).isEqualTo(130);
      assertThat(each.getKey().output().lines().filter(line -> line.startsWith("regatta: ")))
          .containsExactly("regatta: stopped, everything was closed in order");
    }
  }

  @Test
  void a_killed_process_leaves_no_directory_of_vertx_and_hazelcast_wants_no_flags() throws Exception {
    String job = Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n"
        + "epochs: 1000000\n").toString();
    JavaProcess simulation = java("simulate", job);
    simulation.await(line -> line.contains("dense values in 2 blocks on 1 shard"), SECONDS);
    simulation.close();
    simulation.status(SECONDS);
    assertThat(simulation.output()).doesNotContain("modular environment", "on 1 shards", "joined, 1 shards");
    try (Stream<Path> left = Files.list(dir)) {
      assertThat(left).noneMatch(path -> path.getFileName().toString().startsWith("vertx-cache-"));
    }
  }

  /** The line that the services' jars print. */
  private static void ready(JavaProcess process, String service) throws Exception {
    process.await(line -> line.matches("ready " + service + " host=127\\.0\\.0\\.1 admin=\\d+ pid=" + process.pid()), SECONDS);
  }

  /** As the jars' processes say it of themselves. */
  private static void showsItself(JavaProcess process) throws Exception {
    String line = process.await(l -> l.startsWith("ready "), SECONDS);
    String admin = line.replaceFirst(".*admin=(\\d+).*", "http://127.0.0.1:$1/ready");
    assertThat(HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create(admin)).build(),
        HttpResponse.BodyHandlers.ofString()).body()).contains("\"process\"");
  }
}
