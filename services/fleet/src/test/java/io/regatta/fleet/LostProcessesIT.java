package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.regatta.snapshot.Snapshots;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes of a job that are ended by {@code kill -9} in mid-run: status, result and model of those that are left. */
class LostProcessesIT {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private ServiceProcesses services;
  /** Processes of Regatta's command line. */
  private final List<JavaProcess> started = new ArrayList<>();

  @BeforeEach
  void begin() {
    services = ServiceProcesses.fromClassPath(dir);
  }

  @AfterEach
  void end() {
    started.forEach(JavaProcess::close);
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

  /**
   * Returns the arguments after the job file: it is small, its sync training takes some 10 s, and a lost trainer is
   * noticed after 2 s.
   */
  private List<String> arguments(String onTrainerLost) {
    List<String> arguments = new ArrayList<>();
    List<String> keys = new ArrayList<>(Jobs.tiny(dir.resolve(onTrainerLost)));
    keys.addAll(List.of("job=tiny", "mode=sync", "aggregator=false", "trainers=2", "servers=1", "shards=1", "epochs=10", "trainer.step_delay_ms=30",
        "rendezvous.lease_ms=2000", "on_trainer_lost=" + onTrainerLost));
    keys.forEach(key -> arguments.addAll(List.of("--set", key)));
    arguments.addAll(List.of("--result", dir.resolve(onTrainerLost + ".json").toString()));
    return arguments;
  }

  private JavaProcess role(String role, int id, String server, String onTrainerLost) {
    List<String> words = new ArrayList<>(List.of("run", Checkout.file("configs/wide-and-deep.yaml").toString(), "--role", role, "--id",
        Integer.toString(id), "--server-endpoints", server));
    words.addAll(arguments(onTrainerLost));
    JavaProcess process = JavaProcess.regatta(dir, Map.of(), words.toArray(String[]::new));
    started.add(process);
    return process;
  }

  @ParameterizedTest
  @CsvSource({"fail,1", "continue,0"})
  void when_a_trainer_of_a_job_started_by_hand_is_killed_then_the_other_names_what_was_not_trained(String onTrainerLost, int status)
      throws Exception {
    String at = "127.0.0.1:" + FreePorts.one();
    role("pserver", 0, at, onTrainerLost);
    JavaProcess first = role("trainer", 0, at, onTrainerLost);
    JavaProcess second = role("trainer", 1, at, onTrainerLost);
    trains(first);
    second.signal("KILL");
    assertThat(first.status(SECONDS)).as(first.output()).isEqualTo(status);
    assertThat(first.output()).contains("WARNING: not all data were trained", "trainer 1 (was lost after step ", " examples not trained");
    if (status == 1) {
      assertThat(first.output()).contains("job tiny has ended without some of its data: trainer 1 (was lost after step ");
    }
    JsonObject lost = new JsonObject(Files.readString(dir.resolve(onTrainerLost + ".json"))).getJsonArray("lost_trainers").getJsonObject(0);
    assertThat(lost.getInteger("rank")).isEqualTo(1);
    assertThat(lost.getString("how")).isEqualTo("lost");
    assertThat(lost.getLong("untrained_examples")).isPositive();
    assertWhole(onTrainerLost);
  }

  @ParameterizedTest
  @CsvSource({"fail,1", "continue,0"})
  void when_a_launched_trainer_is_killed_then_the_others_end_or_continue_as_the_job_says(String onTrainerLost, int status) throws Exception {
    List<String> words = new ArrayList<>(List.of("launch", "--server_num=1", "--worker_num=2", Checkout.file("configs/wide-and-deep.yaml")
        .toString()));
    words.addAll(arguments(onTrainerLost));
    JavaProcess launch = JavaProcess.regatta(dir, Map.of(), words.toArray(String[]::new));
    started.add(launch);
    trains(launch); // the first trainer's lines are echoed
    process("workerlog.1").destroyForcibly();
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(status);
    if (status == 1) {
      assertThat(launch.output()).contains("regatta: worker 1 was ended by signal 9: the others are stopped");
      assertThat(dir.resolve(onTrainerLost).resolve("output/manifest.json")).as("a model that is not whole").doesNotExist();
    } else {
      assertThat(launch.output()).contains("worker 1 was ended by signal 9; the others continue without it",
          "WARNING: not all data were trained", "regatta: WARNING: the job has ended without worker 1");
      assertWhole(onTrainerLost);
    }
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

  @Test
  void when_the_launcher_is_killed_after_the_training_then_the_model_is_saved() throws Exception {
    Path output = dir.resolve("line/output");
    Path job = Files.writeString(dir.resolve("line.yaml"), "job: line\nprogram: io.regatta.fleet.OutlivingProgram\n"
        + "batch_size: 8\ncompute_threads: 1\noutput: " + output + "\n");
    JavaProcess launch = JavaProcess.regatta(dir, Map.of(), "launch", "--server_num=1", "--worker_num=1",
        job.toString());
    started.add(launch);
    launch.await(line -> line.contains(OutlivingProgram.TRAINED), SECONDS);
    ProcessHandle trainer = process("workerlog.0");
    launch.signal("KILL");
    assertThat(launch.status(SECONDS)).isEqualTo(137);
    trainer.onExit().get(SECONDS, TimeUnit.SECONDS);
    assertThat(output.resolve("manifest.json")).isRegularFile();
    assertWhole("line");
  }

  private ProcessHandle process(String log) throws Exception {
    Matcher pid = Pattern.compile("ready .*pid=(\\d+)").matcher(Files.readString(dir.resolve("log").resolve(log)));
    assertThat(pid.find()).as(log).isTrue();
    return ProcessHandle.of(Long.parseLong(pid.group(1))).orElseThrow();
  }

  @Test
  void when_the_only_process_is_killed_then_its_last_snapshot_is_kept() throws Exception {
    List<String> words = new ArrayList<>(List.of("simulate", Checkout.file("configs/wide-and-deep.yaml").toString()));
    words.addAll(arguments("fail"));
    words.addAll(List.of("--set", "snapshots.every_steps=5"));
    JavaProcess simulation = JavaProcess.regatta(dir, Map.of(), words.toArray(String[]::new));
    started.add(simulation);
    Path output = dir.resolve("fail/output");
    simulation.await(line -> line.contains("of job tiny: full, "), SECONDS);
    simulation.signal("KILL");
    assertThat(simulation.status(SECONDS)).isEqualTo(137);
    assertThat(output.resolve("manifest.json")).doesNotExist();
    assertWhole("fail");
    assertThat(Snapshots.latest(output)).isPresent();
  }
}
