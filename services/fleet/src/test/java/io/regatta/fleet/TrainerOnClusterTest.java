package io.regatta.fleet;

import static io.regatta.node.testing.EmbeddedNode.SECONDS;
import static io.regatta.node.testing.EmbeddedNode.get;
import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.util.PairList;
import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.progress.Progress;
import io.regatta.node.Node;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.EmbeddedNode;
import io.regatta.node.testing.LogLines;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.client.RendezvousClient;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Trainer verticles against a real rendezvous, parameter servers and an aggregator, all over gRPC in one JVM. */
class TrainerOnClusterTest {

  private static final int ROWS = 128;
  private static final int SLOTS = 3;
  @RegisterExtension
  final EmbeddedNode embedded = new EmbeddedNode();
  private final Vertx vertx = embedded.vertx();
  private final Node node = embedded.node();

  /** Starts the services of a job. */
  private void services(JobConfig job) throws Exception {
    services(job, new RendezvousVerticle(node, RendezvousConfig.defaults()));
  }

  private void services(JobConfig job, RendezvousVerticle rendezvous) throws Exception {
    List<Future<String>> deployed = new ArrayList<>();
    deployed.add(vertx.deployVerticle(rendezvous));
    for (int i = 0; i < job.servers(); i++) {
      deployed.add(vertx.deployVerticle(new ParameterServerVerticle(node,
          ParameterServerConfig.defaults().at(i, job.servers(), job.shards()).withSparseShards(Math.max(0, job.sparseShards())))));
    }
    if (job.aggregator()) {
      deployed.add(vertx.deployVerticle(new AggregatorVerticle(node, Settings.defaults(AggregatorConfig.class))));
    }
    get(Future.all(deployed));
  }

  private List<TrainerVerticle> trainers(JobConfig job, TrainingProgram program) throws Exception {
    List<TrainerVerticle> trainers = new ArrayList<>();
    List<Future<String>> deployed = new ArrayList<>();
    for (int rank = 0; rank < job.trainers(); rank++) {
      TrainerVerticle trainer = new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program);
      trainers.add(trainer);
      deployed.add(vertx.deployVerticle(trainer));
    }
    get(Future.all(deployed));
    return trainers;
  }

  @Test
  void aResultThatCannotBeWrittenIsNamedBeforeTheTrainerWaitsForAnybody(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "");
    TrainerConfig config = new TrainerConfig(job(new JsonObject()), 0, "").withResult(file.resolve("r.json").toString());
    assertThatThrownBy(() -> get(vertx.deployVerticle(new TrainerVerticle(node, config))))
        .hasCauseInstanceOf(InvalidInput.class).hasMessageContaining(file.toString());
  }

  /** The output directory is not asked, for there is none. */
  @Test
  void when_a_run_has_ended_then_a_trainer_of_it_that_comes_late_finds_nothing_to_do() throws Exception {
    JobConfig job = job(new JsonObject().put("run_id", "run-1"));
    services(job);
    AtomicInteger programs = new AtomicInteger();
    TrainingProgram program = worker -> {
      programs.incrementAndGet();
      worker.barrier();
    };
    for (TrainerVerticle trainer : trainers(job, program)) {
      get(trainer.result());
    }
    for (int rank : new int[] {-1, 1}) {
      TrainerVerticle late = new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program);
      assertThatThrownBy(() -> get(vertx.deployVerticle(late))).hasCauseInstanceOf(RunEnded.class).hasMessageContaining("run-1");
    }
    assertThat(programs).as("the late ones have not trained").hasValue(2);

    for (TrainerVerticle trainer : trainers(job(new JsonObject().put("run_id", "run-2")), program)) {
      get(trainer.result());
    }
    assertThat(programs).as("another run trains").hasValue(4);
  }

  @Test
  void theLowestTrainerThereAtTheEndThatHasAFileWritesTheResult(@TempDir Path dir) throws Exception {
    JobConfig job = job(new JsonObject().put("trainers", 4));
    services(job);
    List<TrainerVerticle> trainers = new ArrayList<>();
    for (int rank = 0; rank < 4; rank++) {
      String file = rank == 1 ? "" : dir.resolve("r" + rank + ".json").toString();
      trainers.add(new TrainerVerticle(node, new TrainerConfig(job, rank, "").withResult(file), worker -> {
        if (worker.rank() == 0) {
          throw new IllegalStateException("rank 0 is not there at the end");
        }
        worker.barrier();
      }));
    }
    get(Future.all(trainers.stream().map(vertx::deployVerticle).toList()));
    assertThat(get(trainers.get(3).result()).trainersAtEnd()).isEqualTo(3);
    get(Future.join(trainers.stream().map(TrainerVerticle::result).toList()).otherwiseEmpty());
    try (Stream<Path> files = Files.list(dir)) {
      assertThat(files).containsExactly(dir.resolve("r2.json"));
    }
  }

  @ParameterizedTest
  @CsvSource({"0, async", "1, async", "1, sync"})
  void aModelThatOneTrainerOnlyWantsSavedIsSavedByThatOne(int saving, String mode, @TempDir Path dir) throws Exception {
    JobConfig plain = job(new JsonObject().put("mode", mode));
    JobConfig wanting = job(new JsonObject().put("mode", mode).put("output", dir.toString()));
    services(plain);
    List<TrainerVerticle> trainers = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(new TrainerVerticle(node, new TrainerConfig(rank == saving ? wanting : plain, rank, ""), program(1)));
    }
    get(Future.all(trainers.stream().map(vertx::deployVerticle).toList()));
    List<RunResult> results = get(Future.all(trainers.stream().map(TrainerVerticle::result).toList())).list();
    assertThat(results).extracting(RunResult::model).containsOnly(dir.toString());
    assertThat(dir.resolve("manifest.json")).exists();
  }

  @ParameterizedTest
  @CsvSource({"0, async", "1, async", "1, half_async", "0, geo"})
  void aRankThatDoesNotTrainIsWaitedForByNobody(int idle, String mode) throws Exception {
    List<RunResult> results = run(job(new JsonObject().put("mode", mode)), onAllBut(idle));
    assertThat(results).extracting(RunResult::examples).containsOnly(ROWS / 2L);
    assertThat(results).extracting(RunResult::parametersHash).containsOnly(results.get(0).parametersHash())
        .doesNotContain("");
  }

  @ParameterizedTest
  @CsvSource({"sync, false", "ssp, false", "half_async, true"})
  void whereStepsWaitForEveryRankOneThatDoesNotTrainIsRefused(String mode, boolean aggregator) throws Exception {
    JobConfig job = job(new JsonObject().put("mode", mode).put("aggregator", aggregator));
    services(job);
    List<TrainerVerticle> trainers = trainers(job, onAllBut(1));
    assertThatThrownBy(() -> get(trainers.get(0).result())).hasCauseInstanceOf(InvalidInput.class)
        .hasMessageContaining("job cluster: the program made no trainer on ranks [1]").hasMessageContaining("mode " + mode);
    get(trainers.get(1).result());
  }

  private static TrainingProgram onAllBut(int idle) {
    return worker -> {
      if (worker.rank() != idle) {
        try (Model model = Model.newInstance("net")) {
          model.setBlock(new Net());
          try (FleetTrainer t = worker.distributedTrainer(model,
              new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
            t.initialize(new Shape(8, 2), new Shape(8, SLOTS));
            EasyTrain.fit(t, 1, data(t.getManager(), 8, worker.rank(), 2), null);
          }
        }
      }
    };
  }

  private List<RunResult> run(JobConfig job, TrainingProgram program) throws Exception {
    services(job);
    return get(Future.all(trainers(job, program).stream().map(TrainerVerticle::result).toList())).list();
  }

  private static JobConfig job(JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "cluster").put("min_block", 4).put("servers", 2).put("trainers", 2)
        .put("batch_size", 8)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 0.05)).mergeIn(more, true));
  }

  /** Rows of an embedding and dense features through one linear layer. */
  static final class Net extends AbstractBlock {
    private final DistributedEmbedding rows = addChildBlock("rows", DistributedEmbedding.builder().setTable("rows")
        .setDim(4).optInitializer(InitializerSpec.uniform(-0.5f, 0.5f)).optInputIndex(1).build());
    private final Linear linear = addChildBlock("linear", Linear.builder().setUnits(1).build());

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList in, boolean training, PairList<String, Object> p) {
      long batch = in.get(0).getShape().get(0);
      NDArray features = rows.forward(store, new NDList(in.get(1)), training).singletonOrThrow()
          .reshape(batch, SLOTS * 4).concat(in.get(0), 1);
      return linear.forward(store, new NDList(features), training);
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType type, Shape... shapes) {
      rows.initialize(manager, type, shapes[1]);
      linear.initialize(manager, type, new Shape(shapes[0].get(0), SLOTS * 4 + 2));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
      return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
    }
  }

  private static ArrayDataset data(NDManager manager, int batch, int first, int every) {
    Random random = new Random(11);
    int mine = ROWS / every;
    float[] dense = new float[mine * 2];
    long[] ids = new long[mine * SLOTS];
    float[] labels = new float[mine];
    for (int i = 0; i < ROWS; i++) {
      float a = (float) random.nextGaussian();
      float b = (float) random.nextGaussian();
      long[] row = random.longs(SLOTS, 0, 20).toArray();
      if (i % every == first) {
        int at = i / every;
        dense[2 * at] = a;
        dense[2 * at + 1] = b;
        System.arraycopy(row, 0, ids, at * SLOTS, SLOTS);
        labels[at] = a - b + (row[0] % 3);
      }
    }
    return new ArrayDataset.Builder()
        .setData(manager.create(dense, new Shape(mine, 2)), manager.create(ids, new Shape(mine, SLOTS)))
        .optLabels(manager.create(labels, new Shape(mine, 1))).setSampling(batch, false).build();
  }

  private static TrainingProgram program(int epochs) {
    return worker -> {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(new Net());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss("loss", 1)).optOptimizer(worker.optimizer()))) {
          int batch = worker.job().batchSize();
          trainer.initialize(new Shape(batch, 2), new Shape(batch, SLOTS));
          EasyTrain.fit(trainer, epochs, data(trainer.getManager(), batch, worker.shardIndex(), worker.shardCount()),
              null);
          worker.report("loss", worker.allReduce(new double[] {worker.rank()}, ReduceOp.SUM)[0]);
        }
      }
    };
  }

  @ParameterizedTest
  @CsvSource({"sync, 1, false", "sync, 2, true", "half_async, 1, true", "async, 1, false", "ssp, 2, false",
      "geo, 1, false"})
  void everyModeRunsToItsEnd(String mode, int threads, boolean aggregator) throws Exception {
    JobConfig job = job(new JsonObject().put("mode", mode).put("threads", threads).put("aggregator", aggregator)
        .put("k_steps", 3).put("staleness_bound", 1));
    List<RunResult> results = run(job, program(3));
    RunResult first = results.get(0);
    assertThat(first.examples()).isEqualTo(3 * ROWS);
    assertThat(first.steps()).isEqualTo(3 * ROWS / 8 / 2 / threads);
    assertThat(first.loss()).isEqualTo(threads > 1 ? 2 : 1);
    assertThat(first.shards()).isEqualTo(2);
    assertThat(first.processIds()).containsKeys("trainer-0", "trainer-1");
    assertThat(results).extracting(RunResult::parametersHash).containsOnly(first.parametersHash()).doesNotContain("");
  }

  @Test
  void oneTrainerInSyncHasTheBitsOfALocalRun() throws Exception {
    JobConfig job = job(new JsonObject().put("trainers", 1).put("shards", 2));
    RunResult remote = run(job, program(3)).get(0);
    RunResult local = LocalRun.run(job, program(3), Progress.none());
    assertThat(remote.parametersHash()).isEqualTo(local.parametersHash());
  }

  @Test
  void aTrainerThatSaysOtherNumbersOfShardsThanTheServersHaveIsRefusedAndOneThatSaysNoneTakesTheirs() throws Exception {
    JsonObject keys = new JsonObject().put("trainers", 1).put("shards", 3);
    services(job(keys.copy().put("sparse_shards", 1)));
    for (int sparse : new int[] {0, 2}) {
      JobConfig other = job(keys.copy().put("sparse_shards", sparse).put("job", "other" + sparse));
      assertThatThrownBy(() -> get(trainers(other, program(1)).get(0).result())).hasCauseInstanceOf(Conflict.class)
          .hasMessageContaining("has shards: 3, sparse_shards: 1 (v2's ports_num 2, ports_num_for_sparse 1), but this trainer's job "
              + "has shards: 3, sparse_shards: " + sparse + " (v2's ports_num " + (3 - sparse) + ", ports_num_for_sparse " + sparse + ")");
    }
    JobConfig silent = job(keys);
    RunResult result = get(trainers(silent, program(2)).get(0).result());
    assertThat(result.parametersHash()).isEqualTo(LocalRun.run(silent, program(2), Progress.none()).parametersHash());
  }

  @Test
  void aFailingTrainerDoesNotHoldUpTheOthers() throws Exception {
    JobConfig job = job(new JsonObject());
    services(job);
    TrainingProgram good = program(3);
    List<TrainerVerticle> trainers = trainers(job, worker -> {
      if (worker.rank() == 1) {
        try (Model model = Model.newInstance("net")) {
          model.setBlock(new Net());
          try (FleetTrainer trainer = worker.distributedTrainer(model,
              new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
            trainer.initialize(new Shape(8, 2), new Shape(8, SLOTS));
            throw new IllegalStateException("out of luck");
          }
        }
      }
      good.run(worker);
    });
    assertThatThrownBy(() -> get(trainers.get(1).result())).hasMessageContaining("failed on trainer 1")
        .hasMessageContaining("out of luck");
    assertThat(get(trainers.get(0).result()).examples()).isEqualTo(3 * ROWS / 2);
  }

  /** Rank 2 makes steps that the others, who stand in a barrier, do not, and fails before it comes there itself. */
  @ParameterizedTest
  @CsvSource({"sync, false", "sync, true", "ssp, false"})
  void theOthersTrainOnBehindABarrierThatAFailingTrainerNeverReached(String mode, boolean aggregator)
      throws Exception {
    JobConfig job = job(new JsonObject().put("trainers", 3).put("mode", mode).put("aggregator", aggregator)
        .put("staleness_bound", 1));
    services(job);
    List<TrainerVerticle> trainers = trainers(job, worker -> {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(new Net());
        try (FleetTrainer t = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          t.initialize(new Shape(8, 2), new Shape(8, SLOTS));
          ArrayDataset data = data(t.getManager(), 8, worker.rank(), 4);
          EasyTrain.fit(t, worker.rank() == 2 ? 3 : 1, data, null);
          if (worker.rank() == 2) {
            throw new IllegalStateException("out of luck");
          }
          worker.barrier();
          EasyTrain.fit(t, 2, data, null);
        }
      }
    });
    assertThatThrownBy(() -> get(trainers.get(2).result())).hasMessageContaining("out of luck");
    RunResult first = get(trainers.get(0).result());
    assertThat(first.examples()).as("with what the failed one had trained").isEqualTo(3 * 3 * (ROWS / 4));
    assertThat(get(trainers.get(1).result()).parametersHash()).isEqualTo(first.parametersHash()).isNotEmpty();
  }

  @Test
  void aSecondTrainerOfARankOrAnotherNumberOfThemIsRefusedWithTheHolderAndTheKeys() throws Exception {
    JobConfig job = job(new JsonObject().put("trainers", 2));
    services(job);
    Future<String> holder = vertx.deployVerticle(new TrainerVerticle(node, new TrainerConfig(job, 0, ""), program(1)));
    String pid = "pid " + ProcessHandle.current().pid() + " on 127.0.0.1";
    while (get(node.waits().list()).stream().noneMatch(wait -> wait.operation().equals("join of group cluster"))) {
      get(vertx.timer(20).mapEmpty());
    }
    assertThatThrownBy(() -> get(vertx.deployVerticle(new TrainerVerticle(node, new TrainerConfig(job, 0, ""), program(1)))))
        .hasCauseInstanceOf(Conflict.class)
        .hasMessageContaining("trainer 0 of job cluster cannot join: rank 0 of group cluster is held by trainer with " + pid)
        .hasMessageContaining("take another rank. This trainer has job: cluster, trainers: 2, rank (--id) 0");
    JobConfig three = job(new JsonObject().put("trainers", 3));
    assertThatThrownBy(() -> get(vertx.deployVerticle(new TrainerVerticle(node, new TrainerConfig(three, 2, ""), program(1)))))
        .hasMessageContaining("group cluster has world size 2, and this member joins with world size 3")
        .hasMessageContaining("This trainer has job: cluster, trainers: 3");
    TrainerVerticle other = new TrainerVerticle(node, new TrainerConfig(job, 1, ""), program(1));
    get(vertx.deployVerticle(other));
    get(holder);
    get(other.result());
  }

  /** A stopped join must not make later members wait until its lease ends. */
  @Test
  void aTrainerThatIsStoppedWhileItJoinsOverAStoreLeavesNothingThere(@TempDir Path meeting) throws Exception {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "met").put("mode", "collective").put("trainers", 2).put("batch_size", 8)
        .put("collective", new JsonObject().put("store", "file:" + meeting)));
    Vertx elsewhere = Vertx.vertx();
    Node alone = Node.embedded(elsewhere, null, "alone");
    TrainerVerticle trainer = new TrainerVerticle(alone, new TrainerConfig(job, 0, ""), program(1));
    Future<String> deployed = alone.deploy(trainer);
    Path roll = meeting.resolve("met/group");
    String member = "trainer with pid " + ProcessHandle.current().pid();
    while (!Files.exists(roll) || !Files.readString(roll).contains(member)) {
      assertThat(deployed.isComplete()).isFalse();
      get(vertx.timer(20).mapEmpty());
    }
    get(alone.close().eventually(elsewhere::close));
    assertThat(Files.readString(roll)).doesNotContain(member);
    assertThatThrownBy(() -> get(trainer.result())).hasMessageContaining("job met was stopped before its end");
  }

  /** The rendezvous is started anew, and knows nothing of the group, while the trainer waits for servers. */
  @Test
  void aTrainerThatIsGivenUpWhileItWaitsForServersWaitsNoLonger() throws Exception {
    JobConfig job = job(new JsonObject().put("trainers", 1));
    RendezvousVerticle rendezvous = new RendezvousVerticle(node, hasty(0));
    String deployed = get(vertx.deployVerticle(rendezvous));
    int port = rendezvous.port();
    RendezvousClient client = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", port);
    Future<String> trainer = vertx.deployVerticle(new TrainerVerticle(node, new TrainerConfig(job, 0, ""), program(1)));
    while (!trainer.isComplete() && get(client.groups()).getGroupsList().stream().noneMatch(group -> group.getMembersList().stream()
        .anyMatch(member -> member.getState().equals("active")))) { // who stands still for a second is given up before
      get(vertx.timer(20).mapEmpty());
    }
    get(client.close());
    get(vertx.undeploy(deployed));
    get(vertx.deployVerticle(new RendezvousVerticle(node, hasty(port))));
    assertThatThrownBy(() -> get(trainer)).hasCauseInstanceOf(StaleGeneration.class)
        .hasMessageContaining("trainer 0 of job cluster has been removed by the rendezvous");
  }

  /** A lease of 1 s. */
  private static RendezvousConfig hasty(int port) {
    RendezvousConfig all = RendezvousConfig.defaults();
    return all.with(c -> c.port(port).leaseMs(1000).tickMs(50));
  }

  /** Rank 1 is a seat at the rendezvous without heartbeats: a trainer that was killed. */
  @Test
  void theOthersWarnOfALostTrainerOnceAndTheResultCountsWhoIsLeft() throws Exception {
    JobConfig job = job(new JsonObject().put("mode", "async"));
    RendezvousVerticle rendezvous = new RendezvousVerticle(node, hasty(0));
    services(job, rendezvous);
    RendezvousClient killed = new RendezvousClient(new VertxNetwork(vertx), "127.0.0.1", rendezvous.port());
    try (LogLines log = LogLines.of("io.regatta.trainer.OtherTrainers")) {
      Future<JoinReply> joined = killed.join(job.job(), 2, 1, "trainer-1", "", 20_000);
      joined.onSuccess(seat -> killed.heartbeat(job.job(), 1, seat.getIncarnation(), 204));
      TrainerVerticle trainer = new TrainerVerticle(node, new TrainerConfig(job, 0, ""), worker -> {
        program(1).run(worker);
        log.await(1);
      });
      get(vertx.deployVerticle(trainer));
      RunResult result = get(trainer.result());
      assertThat(log.lines()).singleElement(as(STRING)).matches("trainer 1 of job cluster is lost at step 204 \\(no "
          + "heartbeat for 1\\.\\d s\\); trainer 0( at step \\d+)? continues with 1 of 2 trainers"); // on a slow machine its first step comes later
      assertThat(result.trainersAtEnd()).isEqualTo(1);
      assertThat(result.toString()).contains("only 1 of 2 trainers reached the end");
    } finally {
      get(killed.close());
    }
  }

  @Test
  void aTrainerThatLeavesEarlyIsWarnedOfAndOneThatLeavesAtTheEndIsNot() throws Exception {
    JobConfig job = job(new JsonObject());
    services(job);
    try (LogLines log = LogLines.of("io.regatta.trainer.OtherTrainers")) {
      List<TrainerVerticle> trainers = trainers(job, worker -> {
        if (worker.rank() == 1) {
          throw new IllegalStateException("out of luck");
        }
        worker.barrier();
      });
      assertThat(get(trainers.get(0).result()).trainersAtEnd()).isEqualTo(1);
      assertThat(log.lines()).hasSize(1);
      assertThat(log.lines().get(0)).startsWith("trainer 1 of job cluster").contains("left", "1 of 2 trainers");
    }
    try (LogLines log = LogLines.of("io.regatta.trainer.OtherTrainers")) {
      get(Future.all(trainers(job(new JsonObject().put("job", "next")), program(1)).stream()
          .map(TrainerVerticle::result).toList()));
      assertThat(log.lines()).isEmpty();
    }
  }

  /** It may be the first to fail: by its host's disk or data, before it has given the shards their first values. */
  @ParameterizedTest
  @CsvSource({"sync, false", "sync, true", "async, false"})
  void theOthersTrainAndSaveWithoutRankZero(String mode, boolean initialized, @TempDir Path dir) throws Exception {
    Path end = dir.resolve("end");
    JobConfig job = job(new JsonObject().put("mode", mode).put("output", end.toString()));
    services(job);
    TrainingProgram good = worker -> {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(new Net());
        try (FleetTrainer t = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          if (worker.rank() == 0 && !initialized) {
            throw new IllegalStateException("out of luck");
          }
          t.initialize(new Shape(8, 2), new Shape(8, SLOTS));
          if (worker.rank() == 0) {
            throw new IllegalStateException("out of luck");
          }
          EasyTrain.fit(t, 2, data(t.getManager(), 8, 1, 2), null);
          worker.save(t, dir.resolve("checkpoint"));
        }
      }
    };
    List<TrainerVerticle> trainers = trainers(job, good);
    assertThatThrownBy(() -> get(trainers.get(0).result())).hasMessageContaining("out of luck");
    RunResult result = get(trainers.get(1).result());
    assertThat(result.examples()).isEqualTo(ROWS);
    assertThat(dir.resolve("checkpoint").resolve("manifest.json")).exists();
    assertThat(result.model()).isEqualTo(dir.resolve("checkpoint").toString());
    assertThat(end).as("the program has saved").doesNotExist();
  }

  @Test
  void whatTheJobWantsSavedIsSavedWithoutRankZero(@TempDir Path dir) throws Exception {
    JobConfig job = job(new JsonObject().put("output", dir.toString()));
    services(job);
    List<TrainerVerticle> trainers = trainers(job, worker -> {
      program(1).run(worker);
      if (worker.rank() == 0) {
        throw new IllegalStateException("out of luck");
      }
    });
    assertThatThrownBy(() -> get(trainers.get(0).result())).hasMessageContaining("out of luck");
    assertThat(get(trainers.get(1).result()).model()).isEqualTo(dir.toString());
    assertThat(dir.resolve("manifest.json")).exists();
  }

  @Test
  void anotherModelIsRefusedInOneLine() throws Exception {
    JobConfig job = job(new JsonObject());
    services(job);
    try (LogLines left = LogLines.of("io.regatta.trainer.RankSession")) {
      List<TrainerVerticle> trainers = trainers(job, worker -> {
        try (Model model = Model.newInstance("net")) {
          model.setBlock(Linear.builder().setUnits(worker.rank() + 1).build());
          try (FleetTrainer trainer = worker.distributedTrainer(model,
              new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
            trainer.initialize(new Shape(8, 3));
          }
        }
      });
      assertThatThrownBy(() -> {
        get(trainers.get(0).result());
        get(trainers.get(1).result());
      }).hasMessageContaining("is registered with another specification").message().doesNotContain("\n");
      for (TrainerVerticle trainer : trainers) { // before the servers, which they leave
        get(trainer.result().otherwiseEmpty());
        get(vertx.undeploy(trainer.deploymentID()).otherwiseEmpty());
      }
      assertThat(left.lines()).as("said once is enough").isEmpty();
    }
  }

  @Test
  void aDeadServerReleasesTheModelThreadsWithItsName() throws Exception {
    JobConfig job = job(new JsonObject().put("servers", 1).put("trainers", 1));
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    String server = get(vertx.deployVerticle(new ParameterServerVerticle(node, ParameterServerConfig.defaults())));
    CountDownLatch training = new CountDownLatch(1);
    TrainerVerticle trainer = trainers(job, worker -> {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(new Net());
        try (FleetTrainer t = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          t.initialize(new Shape(8, 2), new Shape(8, SLOTS));
          for (;;) {
            EasyTrain.fit(t, 1, data(t.getManager(), 8, 0, 1), null);
            training.countDown();
          }
        }
      }
    }).get(0);
    assertThat(training.await(SECONDS, TimeUnit.SECONDS)).isTrue();
    get(vertx.undeploy(server));
    assertThatThrownBy(() -> get(trainer.result())).hasCauseInstanceOf(PeerLost.class)
        .hasMessageFindingMatch("server 0 \\(shard 0 at 127\\.0\\.0\\.1:\\d+\\) is lost at step \\d+: .*; start the server again, "
            + "then the job");
  }

  private ParameterServerVerticle serverOfOneJob() throws Exception {
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    ParameterServerVerticle server = new ParameterServerVerticle(node,
        ParameterServerConfig.defaults().at(0, 1, 2).withLifetime(ParameterServerConfig.Lifetime.JOB));
    get(vertx.deployVerticle(server));
    return server;
  }

  @Test
  void when_all_trainers_of_a_job_have_failed_then_a_server_that_lives_for_it_fails_and_names_them() throws Exception {
    ParameterServerVerticle server = serverOfOneJob();
    List<TrainerVerticle> trainers = trainers(job(new JsonObject().put("servers", 1).put("shards", 2)), worker -> {
      program(1).run(worker);
      throw new IllegalStateException("out of luck");
    });
    for (TrainerVerticle trainer : trainers) {
      assertThatThrownBy(() -> get(trainer.result())).hasMessageContaining("out of luck");
    }
    assertThatThrownBy(() -> get(server.finished())).hasCauseInstanceOf(PeerLost.class)
        .hasMessageContaining("parameter server 0 ends: no trainer of job cluster has ended with success")
        .hasMessageContaining("trainers 0 and 1 have left before");
  }

  @ParameterizedTest
  @CsvSource({"fail, true", "continue, false"})
  void when_a_trainer_has_failed_then_a_server_that_lives_for_its_job_ends_as_the_others_do(String lost, boolean fails)
      throws Exception {
    ParameterServerVerticle server = serverOfOneJob();
    List<TrainerVerticle> trainers = trainers(
        job(new JsonObject().put("servers", 1).put("shards", 2).put("on_trainer_lost", lost)), worker -> {
          program(1).run(worker);
          if (worker.rank() == 1) {
            throw new IllegalStateException("out of luck");
          }
        });
    assertThat(get(trainers.get(0).result()).isSuccess()).isEqualTo(!fails);
    if (fails) {
      assertThatThrownBy(() -> get(server.finished())).hasMessageContaining("job cluster")
          .hasMessageContaining("trainers 0 and 1");
    } else {
      assertThat(get(server.finished())).contains("parameter server 0 ends: the trainers of job cluster have closed");
    }
  }

  @Test
  void stoppingAVerticleReleasesItsModelThread() throws Exception {
    JobConfig job = job(new JsonObject());
    services(job);
    CountDownLatch waiting = new CountDownLatch(1);
    List<String> ids = new ArrayList<>();
    List<TrainerVerticle> trainers = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(new TrainerVerticle(node, new TrainerConfig(job, rank, ""), worker -> {
        if (worker.rank() == 0) {
          waiting.countDown();
          worker.barrier();
        } else {
          new CountDownLatch(1).await();
        }
      }));
    }
    for (Object id : get(Future.all(trainers.stream().map(vertx::deployVerticle).toList())).list()) {
      ids.add((String) id);
    }
    assertThat(waiting.await(SECONDS, TimeUnit.SECONDS)).isTrue();
    get(vertx.undeploy(ids.get(0)));
    get(vertx.undeploy(ids.get(1)));
    assertThatThrownBy(() -> get(trainers.get(0).result())).hasMessageContaining("stopped");
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS); // stopping does not wait long for who is slow to notice
    while (modelThreads().findAny().isPresent() && System.nanoTime() < end) {
      get(vertx.timer(20).mapEmpty());
    }
    assertThat(modelThreads()).isEmpty();
  }

  private static Stream<String> modelThreads() {
    return Thread.getAllStackTraces().keySet().stream().map(Thread::getName).filter(name -> name.startsWith("regatta-model-cluster"));
  }
}
