package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.dataset.ArrayDataset;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The door in code: where a process's place comes from, and the single steps. */
class FleetTest {

  @TempDir
  Path dir;

  private static JsonObject line() {
    return new JsonObject().put("job", "line").put("epochs", 2).put("batch_size", 8).put("compute_threads", 1);
  }

  @Test
  void code_goes_before_command_line_before_file() throws Exception {
    Path conf = Files.writeString(dir.resolve("conf.yaml"), "fleet:\n  role: pserver\n  id: 3\n");
    Path job = Files.writeString(dir.resolve("job.yaml"), "job: line\ntrainers: 3\nservers: 4\nbatch_size: 5\n");
    String[] file = {job.toString(), "-conf", conf.toString()};
    try (Fleet fleet = Fleet.init(file)) {
      assertThat(fleet.isServer()).isTrue();
      assertThat(fleet.isWorker()).isFalse();
      assertThat(fleet.serverIndex()).isEqualTo(3);
      assertThat(fleet.serverNum()).isEqualTo(4);
      assertThat(fleet.workerNum()).isEqualTo(3);
    }
    String[] both = {job.toString(), "-conf", conf.toString(), "--role", "trainer", "--id", "1", "--trainers", "7"};
    try (Fleet fleet = Fleet.init(both)) {
      assertThat(fleet.role()).isEqualTo(Role.TRAINER);
      assertThat(fleet.workerIndex()).isEqualTo(1);
      assertThat(fleet.isFirstWorker()).isFalse();
      assertThat(fleet.workerNum()).isEqualTo(7);
    }
    try (Fleet fleet = Fleet.builder().args(both).id(0).trainers(2).serverEndpoints(List.of("a:1", "b:2"))
        .rendezvousEndpoint("c:3").init()) {
      assertThat(fleet.isFirstWorker()).isTrue();
      assertThat(fleet.workerNum()).isEqualTo(2);
      assertThat(fleet.serverNum()).isEqualTo(2);
      assertThat(fleet.serverEndpoints()).containsExactly("a:1", "b:2");
      assertThat(fleet.job().batchSize()).isEqualTo(5);
    }
  }

  @Test
  void the_environment_goes_before_the_file_and_behind_the_command_line() throws Exception {
    Path conf = Files.writeString(dir.resolve("env.yaml"), "fleet:\n  role: rendezvous\n  id: 3\n");
    Map<String, String> environment = Map.of("REGATTA_FLEET_ROLE", "trainer", "REGATTA_FLEET_ID", "2");
    try (Fleet fleet = placed(conf, environment)) {
      assertThat(fleet.role()).isEqualTo(Role.TRAINER);
      assertThat(fleet.workerIndex()).isEqualTo(2);
    }
    try (Fleet fleet = placed(conf, environment, new Settings.Option("--role", "fleet.role", "pserver"))) {
      assertThat(fleet.isServer()).isTrue();
      assertThat(fleet.serverIndex()).isEqualTo(2);
    }
    assertThatThrownBy(() -> placed(conf, Map.of("REGATTA_FLEET_ROLE", "captain"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("REGATTA_FLEET_ROLE").hasMessageContaining("captain");
  }

  private static Fleet placed(Path conf, Map<String, String> environment, Settings.Option... options) {
    ProcessSettings place = ProcessSettings.load(Settings.Sources.NONE
        .with(s -> s.file(conf).environment(environment).options(List.of(options))));
    return new Fleet(JobPart.of(place, JobConfig.of(line().put("trainers", 3).put("servers", 4))));
  }

  @Test
  void saves_what_it_has_trained() throws Exception {
    Path saved = dir.resolve("saved");
    try (Fleet fleet = Fleet.builder().job(line()).init()) {
      assertThatThrownBy(() -> fleet.save(null, saved)).isInstanceOf(InvalidInput.class).hasMessageContaining("initWorker");
      Worker worker = fleet.initWorker();
      try (Model model = Model.newInstance("line")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
          new LineProgram().train(worker, trainer);
          assertThat(fleet.save(trainer, saved)).isEqualTo(saved);
        }
      }
      RunResult result = fleet.stopWorker();
      assertThat(result.model()).isEqualTo(saved.toString());
      JsonObject manifest = new JsonObject(Files.readString(saved.resolve("manifest.json")));
      assertThat(manifest.getString("parameters_hash")).isEqualTo(result.parametersHash());
      assertThat(saved.resolve("dense.safetensors")).isNotEmptyFile();
    }
  }

  /** Epochs behind {@code max_steps} have no batches, and no mean. */
  @Test
  void the_loss_is_that_of_the_steps_taken() throws Exception {
    JsonObject short_ = line().put("epochs", 5).put("max_steps", 40);
    try (Fleet fleet = Fleet.builder().job(short_).init()) {
      RunResult fit = fleet.train(new LineProgram());
      assertThat(fit.steps()).isEqualTo(40);
      assertThat(fit.loss()).isBetween(1e-9, 10.0);
    }
    List<Double> means = new ArrayList<>();
    try (Fleet fleet = Fleet.builder().job(short_).init()) {
      RunResult byHand = fleet.train(worker -> {
        try (Model model = Model.newInstance("line")) {
          model.setBlock(Linear.builder().setUnits(1).build());
          try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
            trainer.initialize(new Shape(1, 1));
            ArrayDataset points = LineProgram.points(trainer.getManager(), 8);
            for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
              double mean = worker.trainFromDataset(trainer, points, null, 1, false).loss();
              means.add(mean);
              worker.report("loss", mean);
            }
          }
        }
      });
      assertThat(means).hasSize(5);
      assertThat(means.get(4)).isNaN();
      assertThat(byHand.loss()).isEqualTo(means.get(1));
    }
  }

  @Test
  void bad_places_are_refused() {
    assertThatThrownBy(() -> Fleet.init("--role", "captain")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("fleet.role").hasMessageContaining("pserver");
    assertThatThrownBy(() -> Fleet.builder().role(Role.PSERVER).id(2).serverEndpoints(List.of("a:1"))
        .rendezvousEndpoint("b:2").init()).isInstanceOf(InvalidInput.class).hasMessageContaining("index");
    assertThatThrownBy(() -> Fleet.builder().environment(Map.of("PADDLE_TRAINER_ENDPOINTS", "a:1,b:2")).serverEndpoints(
        List.of("a:1")).init()).isInstanceOf(InvalidInput.class).hasMessageContaining("give one of the two");
    assertThatThrownBy(() -> Fleet.init().job()).isInstanceOf(InvalidInput.class).hasMessageContaining("job");
    assertThatThrownBy(() -> Fleet.builder().role(Role.PSERVER).init().initWorker())
        .isInstanceOf(InvalidInput.class).hasMessageContaining("runServer");
    assertThatThrownBy(() -> Fleet.builder().job(line()).init().runServer())
        .isInstanceOf(InvalidInput.class).hasMessageContaining("not a server");
    assertThatThrownBy(() -> Fleet.builder().job(line()).init().barrier())
        .isInstanceOf(InvalidInput.class).hasMessageContaining("initWorker");
  }

  @Test
  void single_steps_alone_compute_what_run_computes() throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    RunResult whole;
    try (Fleet fleet = Fleet.builder().job(line()).init()) {
      whole = fleet.train(new LineProgram());
    }
    try (Fleet fleet = Fleet.builder().job(line()).init()) {
      assertThat(fleet.isFirstWorker()).isTrue();
      assertThat(steps(fleet).parametersHash()).isEqualTo(whole.parametersHash());
    }
    threads.assertNone();
  }

  /** A process that an orchestrator starts again after the end: nothing is thrown at a program that expects it. */
  @Test
  void a_process_of_a_run_that_has_ended_finds_nothing_to_do() throws Exception {
    Path output = dir.resolve("ended");
    Files.createDirectories(output);
    Files.writeString(output.resolve("run.json"), new JsonObject().put("job", "line").put("run_id", "run-1")
        .put("ended", "2026-01-01T00:00:00Z").encode());
    FleetBuilder place = Fleet.builder().role(Role.TRAINER).id(0).trainers(1).serverEndpoints(List.of("127.0.0.1:1"))
        .rendezvousEndpoint("127.0.0.1:1")
        .job(line().put("job", "line").put("run_id", "run-1").put("output", output.toString()));
    try (Fleet fleet = place.init()) {
      RunResult result = fleet.train(worker -> {
        throw new AssertionError("trains again");
      });
      assertThat(result.isLate()).isTrue();
      assertThat(result.isSuccess()).isTrue();
      assertThat(result.toString()).contains("run run-1 of job line ended with success", "nothing is left to do");
      assertThat(result.requireSuccess().steps()).isZero();
    }
    try (Fleet fleet = place.init()) {
      assertThat(fleet.tryJoin()).isFalse();
      assertThatThrownBy(fleet::initWorker).isInstanceOf(RunEnded.class).hasMessageContaining("nothing is left to do");
      assertThat(fleet.stopWorker().isLate()).isTrue();
    }
    try (Fleet fleet = Fleet.builder().job(line()).init()) {
      assertThat(fleet.tryJoin()).isTrue();
      assertThat(fleet.tryJoin()).as("joined already").isTrue();
      assertThat(fleet.stopWorker().isLate()).isFalse();
    }
  }

  /** A rendezvous, a server and two trainers at fixed endpoints, as a user would place them. */
  @Test
  void single_steps_at_fixed_endpoints() throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    FleetBuilder[] places = new FleetBuilder[4];
    String server = "127.0.0.1:" + FreePorts.one();
    String rendezvous = "127.0.0.1:" + FreePorts.one();
    Role[] roles = {Role.RENDEZVOUS, Role.PSERVER, Role.TRAINER, Role.TRAINER};
    int[] ids = {-1, 0, 0, 1};
    for (int i = 0; i < places.length; i++) {
      places[i] = Fleet.builder().role(roles[i]).id(ids[i]).trainers(2).serverEndpoints(List.of(server))
          .rendezvousEndpoint(rendezvous).job(line());
    }
    try (Fleet services0 = places[0].init(); Fleet services1 = places[1].init();
        Fleet trainer0 = places[2].init(); Fleet trainer1 = places[3].init()) {
      CompletableFuture<Void> running = CompletableFuture.allOf(CompletableFuture.runAsync(services0::runServer, on()),
          CompletableFuture.runAsync(services1::runServer, on()));
      CompletableFuture<RunResult> second = CompletableFuture.supplyAsync(() -> steps(trainer1), on());
      RunResult first = CompletableFuture.supplyAsync(() -> steps(trainer0), on()).get(60, TimeUnit.SECONDS);
      assertThat(second.get(60, TimeUnit.SECONDS).parametersHash()).isEqualTo(first.parametersHash());
      assertThat(first.trainers()).isEqualTo(2);
      services0.close(); // the server ends with its job
      running.get(10, TimeUnit.SECONDS);
    }
    threads.assertNone();
  }

  /** The reasons for which a serving command ends with status 1. */
  @Test
  void a_server_fails_whose_only_trainer_has_failed() throws Exception {
    String server = "127.0.0.1:" + FreePorts.one();
    String rendezvous = "127.0.0.1:" + FreePorts.one();
    List<Fleet> fleets = new ArrayList<>();
    for (Role role : List.of(Role.RENDEZVOUS, Role.PSERVER, Role.TRAINER)) {
      fleets.add(Fleet.builder().role(role).id(role == Role.RENDEZVOUS ? -1 : 0).trainers(1)
          .serverEndpoints(List.of(server)).rendezvousEndpoint(rendezvous).job(line()).init());
    }
    try (Fleet meeting = fleets.get(0); Fleet serving = fleets.get(1); Fleet training = fleets.get(2)) {
      CompletableFuture<Void> met = CompletableFuture.runAsync(meeting::runServer, on());
      CompletableFuture<Void> served = CompletableFuture.runAsync(serving::runServer, on());
      assertThatThrownBy(() -> training.train(worker -> {
        new LineProgram().run(worker);
        throw new IllegalStateException("out of luck");
      })).hasMessageContaining("out of luck");
      assertThatThrownBy(() -> served.get(60, TimeUnit.SECONDS)).hasCauseInstanceOf(PeerLost.class)
          .hasMessageContaining("parameter server 0 ends: no trainer of job line has ended with success")
          .hasMessageContaining("trainer 0 has left");
      meeting.close();
      met.get(10, TimeUnit.SECONDS);
    }
  }

  private static java.util.concurrent.Executor on() {
    return task -> new Thread(task, "test-step").start();
  }

  private static RunResult steps(Fleet fleet) {
    Worker worker = fleet.initWorker();
    try (Model model = Model.newInstance("line")) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
        new LineProgram().train(worker, trainer);
        assertThat(fleet.serverShardMap().lines()).hasSize(2)
            .allMatch(line -> line.matches(".*(weight|bias):block0:1 @ shard 0 \\[[01]\\.\\.[12]\\)"));
        fleet.barrier();
        double[] sum = fleet.allReduce(new double[] {fleet.workerIndex() + 1}, ReduceOp.SUM);
        assertThat(sum).containsExactly(fleet.workerNum() == 1 ? 1 : 3);
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
    return fleet.stopWorker();
  }
}
