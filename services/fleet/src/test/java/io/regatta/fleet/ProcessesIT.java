package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each service as a {@code java -jar} process of its own, found through Hazelcast. Needs the packaged jars. */
class ProcessesIT {

  private static final int START_SECONDS = JavaProcess.SECONDS;
  /** Status, with the signal's number added, of a process that has closed in order within its four seconds; it measures them itself. */
  private static final int IN_ORDER = 128;

  @TempDir
  Path dir;
  private ServiceProcesses services;

  @BeforeEach
  void begin() {
    services = ServiceProcesses.fromJars(dir);
  }

  @AfterEach
  void end() {
    services.close();
  }

  /** The tiny wide & deep job, nested as in a file. */
  private JsonObject job() throws Exception {
    return ServiceProcesses.job("wide-and-deep", Jobs.tiny(dir));
  }

  @Test
  void sync_over_processes_gives_the_bits_of_the_simulation() throws Exception {
    sameBits("wide-and-deep", Jobs.tiny(dir));
  }

  @Test
  void census_over_processes_and_an_aggregator_gives_the_bits_of_the_simulation_without() throws Exception {
    sameBits("census", List.of("data.dir=" + Jobs.data("adult_census"), "epochs=1", "max_steps=200", "aggregator=true"));
  }

  private void sameBits(String name, List<String> keys) throws Exception {
    List<String> direct = new ArrayList<>(keys);
    direct.addAll(List.of("mode=sync", "aggregator=false", "output="));
    String hash = LocalCluster.run(LocalCluster.Options.of(Jobs.config(name, direct.toArray(String[]::new)))
        .withoutHazelcast().withProgress(Progress.none())).get(0).parametersHash();
    JsonObject job = ServiceProcesses.job(name, keys);

    // Any order will do: here trainers come first, and wait for the others.
    List<JavaProcess> trainers = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(services.start("trainer", "trainer-" + rank, new JsonObject().put("job", job).put("rank", rank)
          .put("result", rank == 0 ? dir.resolve("result.json").toString() : "")));
    }
    List<JavaProcess> servers = new ArrayList<>();
    for (int index = 0; index < 2; index++) {
      servers.add(services.start("parameter-server", "server-" + index,
          new JsonObject().put("index", index).put("servers", 2).put("shards", 1)));
    }
    List<JavaProcess> stopped = new ArrayList<>(servers);
    if (job.getString("aggregator", "false").equals("true")) {
      stopped.add(services.start("gradient-aggregator", "aggregator", new JsonObject()));
    }
    JavaProcess rendezvous = services.start("rendezvous", "rendezvous", new JsonObject());
    stopped.add(rendezvous);
    for (JavaProcess server : servers) {
      server.await(line -> line.startsWith("ready parameter-server"), START_SECONDS);
    }
    for (JavaProcess trainer : trainers) {
      assertThat(trainer.status(START_SECONDS)).as(trainer.output()).isZero();
    }

    JsonNode result = new ObjectMapper().readTree(dir.resolve("result.json").toFile());
    assertThat(result.get("parameters_hash").asText()).isEqualTo(hash);
    assertThat(result.get("trainers_at_end").asInt()).isEqualTo(2);
    trainers.forEach(trainer -> assertThat(trainer.output()).contains("parameters' hash " + hash, name + ": sync, 2 servers"));
    assertThat(result.get("process_ids").get("trainer-0").asLong()).isEqualTo(trainers.get(0).pid());
    assertThat(result.get("process_ids").get("trainer-1").asLong()).isEqualTo(trainers.get(1).pid());
    assertThat(result.get("process_ids").get("rendezvous").asLong()).isEqualTo(rendezvous.pid());
    assertThat(result.get("process_ids").get("parameter-server-0").asLong()).isEqualTo(servers.get(0).pid());
    assertThat(result.get("process_ids").get("parameter-server-1").asLong()).isEqualTo(servers.get(1).pid());
    List<Long> pids = new ArrayList<>();
    result.get("process_ids").forEach(pid -> pids.add(pid.asLong()));
    assertThat(pids).doesNotHaveDuplicates().hasSize(trainers.size() + stopped.size());

    CommandLineRun status = CommandLineRun.regatta("status", "--seeds", services.seed(), "--ready-timeout", "60");
    assertThat(status.status()).as(status.err()).isZero();
    assertThat(status.out()).contains("server 0", "server 1", "no job").doesNotContain("job " + name);

    Collections.shuffle(stopped);
    for (JavaProcess service : stopped) {
      service.signal("TERM");
      assertThat(service.status(START_SECONDS)).as(service.output()).isEqualTo(IN_ORDER + 15);
    }
  }

  @Test
  void ctrl_c_ends_a_simulation_in_order() throws Exception {
    Path job = Files.writeString(dir.resolve("job.json"), job().put("epochs", 100_000).encode());
    try (JavaProcess simulation = JavaProcess.jar("simulation", ServiceProcesses.jar("fleet"), "simulate", job.toString())) {
      simulation.await(line -> line.contains("examples/s") || line.matches(".*train.*/s.*"), START_SECONDS);
      simulation.signal("INT");
      assertThat(simulation.status(START_SECONDS)).as(simulation.output()).isEqualTo(IN_ORDER + 2);
      assertThat(simulation.output()).doesNotContain("not everything ended");
      assertThat(simulation.exceptions()).as(simulation.output()).isEmpty();
    }
  }

  @Test
  void an_engine_that_is_not_there_is_named_with_those_that_are() throws Exception {
    Path job = Files.writeString(dir.resolve("job.json"), job().put("engine", "TensorFlow").encode());
    try (JavaProcess simulation = JavaProcess.jar("simulation", ServiceProcesses.jar("fleet"), "simulate", job.toString())) {
      assertThat(simulation.status(START_SECONDS)).as(simulation.output()).isEqualTo(2);
      assertThat(simulation.output().lines().filter(line -> line.startsWith("regatta: "))).singleElement().asString()
          .contains("TensorFlow is not on the class path", "MXNet");
    }
  }

  @Test
  void ctrl_c_ends_a_wait_for_services_that_never_come() throws Exception {
    JavaProcess trainer = services.start("trainer", "trainer", new JsonObject().put("job", job()));
    trainer.await(line -> line.contains("not ready") || line.contains("waits"), START_SECONDS);
    trainer.signal("INT");
    assertThat(trainer.status(START_SECONDS)).as(trainer.output()).isEqualTo(IN_ORDER + 2);
  }
}
