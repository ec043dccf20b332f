package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.core.exchange.Wait;
import io.regatta.data.LoaderOptions;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.node.Node;
import io.regatta.node.settings.Settings;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.snapshot.Snapshots;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Trainer verticles of elastic jobs over tensor streams, against a real rendezvous, in one JVM. */
class ElasticTrainersTest {

  private static final int BATCH = 8;
  private static final int SECONDS = 120; // for what hangs; it measures nothing

  private Vertx vertx;
  private Node node;
  private final AtomicBoolean stop = new AtomicBoolean();
  /** Holds rank 1 behind its training; null: nobody is held. Set before trainers start. */
  private CountDownLatch held;
  /** Batches trained by all, and how many somebody waits for. */
  private final AtomicInteger trained = new AtomicInteger();
  private volatile Wanted wanted = new Wanted(Integer.MAX_VALUE, new CompletableFuture<>());

  @BeforeEach
  void start() throws Exception {
    vertx = Vertx.vertx();
    node = Node.embedded(vertx, null, "test");
    RendezvousConfig config = Settings.bind(new JsonObject().put("lease_ms", 2000), RendezvousConfig.class);
    get(vertx.deployVerticle(new RendezvousVerticle(node, config)));
  }

  @AfterEach
  void stop() throws Exception {
    get(node.close().eventually(vertx::close));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
  }

  private static JobConfig job(int min, int max) {
    return job(min, max, new JsonObject());
  }

  private static JobConfig job(int min, int max, JsonObject snapshots) {
    return job(min, max, snapshots, new JsonObject());
  }

  private static JobConfig job(int min, int max, JsonObject snapshots, JsonObject meeting) {
    return JobConfig.of(new JsonObject().put("job", "elastic").put("mode", "collective").put("trainers", max)
        .put("batch_size", BATCH).put("epochs", 1_000_000).put("compute_threads", 1).put("snapshots", snapshots)
        .put("collective", new JsonObject().put("min_trainers", min).put("bucket_bytes", 600).put("last_bucket_bytes", 200)
            .mergeIn(meeting))
        .put("optimizer", new JsonObject().put("kind", "adam").put("learning_rate", 0.002)));
  }

  /** Trains a small net until it is stopped, behind a pass. */
  private TrainingProgram program() {
    return worker -> {
      try (SlotDataset train = new SlotDataset(new GeneratedImages("train", 7, 0, 240, 4, 1, 6), LoaderOptions.inOrder(BATCH));
          Model model = Model.newInstance("small", worker.device())) {
        model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(8).build()).add(Activation::relu)
            .add(Linear.builder().setUnits(4).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss("loss")).optOptimizer(worker.optimizer()))) {
          trainer.initialize(SlotArrays.shapes(train.layout(), BATCH));
          for (boolean over = false; !over; ) {
            long examples = worker.trainFromDataset(trainer, train, counting(), 100, false).examples();
            double[] all = worker.allReduce(new double[] {examples, stop.get() ? 1 : 0}, ReduceOp.SUM);
            over = all[0] > 0 && all[1] > 0;
          }
          if (worker.rank() == 1 && held != null) {
            held.await();
          }
        }
      }
    };
  }

  private FetchHandler counting() {
    return new FetchHandler() {
      @Override
      public void trained(Batch batch, NDList predictions, float loss) {
        Wanted now = wanted; // the number and who waits for it: the next one waits for more
        if (trained.incrementAndGet() >= now.batches()) {
          now.reached().complete(null);
        }
      }

      @Override
      public void fetched(long step, Map<String, Double> values) {}
    };
  }

  /** Waits until this number of further batches has been trained. */
  private void awaitBatches(int more) throws Exception {
    wanted = new Wanted(trained.get() + more, new CompletableFuture<>());
    wanted.reached().get(SECONDS, TimeUnit.SECONDS);
  }

  private record Wanted(int batches, CompletableFuture<Void> reached) {}

  private record Deployed(TrainerVerticle trainer, Future<String> id) {}

  /** One that takes any rank. */
  private Deployed trainer(JobConfig job) {
    return trainer(job, -1);
  }

  private Deployed trainer(JobConfig job, int rank) {
    return trainer(node, job, rank);
  }

  private Deployed trainer(Node at, JobConfig job, int rank) {
    TrainerVerticle trainer = new TrainerVerticle(at, new TrainerConfig(job, rank, ""), program());
    return new Deployed(trainer, at.vertx().deployVerticle(trainer));
  }

  private List<Deployed> trainers(JobConfig job, int count) throws Exception {
    List<Deployed> trainers = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      trainers.add(trainer(job, i));
    }
    for (Deployed trainer : trainers) {
      get(trainer.id());
    }
    return trainers;
  }

  private static void assertSame(List<Deployed> trainers) throws Exception {
    RunResult first = get(trainers.get(0).trainer().result());
    for (Deployed trainer : trainers) {
      assertThat(get(trainer.trainer().result()).parametersHash()).isEqualTo(first.parametersHash());
      assertThat(get(trainer.trainer().result()).steps()).isEqualTo(first.steps());
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"service", "file:"})
  void when_a_run_has_ended_then_a_trainer_of_it_that_comes_late_does_not_begin_it_anew(String store, @TempDir Path dir)
      throws Exception {
    stop.set(true); // after a pass
    JsonObject meeting = new JsonObject().put("store", store.equals("file:") ? store + dir : store);
    JobConfig job = job(1, 2, new JsonObject(), meeting).withRunId("run-1");
    for (Deployed trainer : trainers(job, 2)) {
      get(trainer.trainer().result());
    }
    int batches = trained.get();
    assertThatThrownBy(() -> get(trainer(job).trainer().result())).isInstanceOf(ExecutionException.class)
        .hasCauseInstanceOf(RunEnded.class).hasMessageContaining("run-1");
    assertThat(trained).as("batches").hasValue(batches);
    JobConfig next = job.withRunId("run-2");
    for (Deployed trainer : trainers(next, 2)) {
      get(trainer.trainer().result());
    }
    assertThat(trained).as("another run trains").hasValueGreaterThan(batches);
  }

  @Test
  void who_leaves_in_the_midst_of_training_is_made_up_for_by_those_who_are_left_and_by_who_comes() throws Exception {
    JobConfig job = job(2, 3);
    List<Deployed> trainers = trainers(job, 3);
    for (int round = 0; round < 3; round++) {
      awaitBatches(100);
      get(vertx.undeploy(get(trainers.remove(round).id())));
      awaitBatches(100);
      Deployed newcomer = trainer(job);
      get(newcomer.id());
      trainers.add(newcomer);
    }
    awaitBatches(100);
    stop.set(true);
    assertSame(trainers);
    assertThat(get(trainers.get(0).trainer().result()).trainers()).isEqualTo(3);
  }

  /** The lowest rank takes snapshots, even after a change of ranks; a newcomer finds those of its own run. */
  @Test
  void snapshots_go_on_when_rank_0_is_lost_and_somebody_comes(@TempDir Path dir) throws Exception {
    JobConfig job = job(1, 2, new JsonObject().put("dir", dir.toString()).put("every_steps", 20).put("every_pass", true)
        .put("keep", 1000));
    List<Deployed> trainers = trainers(job, 2);
    awaitBatches(100);
    get(vertx.undeploy(get(trainers.remove(0).id())));
    awaitBatches(100);
    assertThat(node.metrics().find("regatta.trainer.steps").tag("rank", "0").meters()).as("who was rank 1").hasSize(1);
    assertThat(node.metrics().find("regatta.trainer.steps").tag("rank", "1").meters()).isEmpty();
    trainers.add(trainer(job));
    get(trainers.get(1).id());
    awaitBatches(100);
    stop.set(true);
    assertSame(trainers);
    long steps = get(trainers.get(0).trainer().result()).steps();
    assertThat(Snapshots.list(dir)).as("of a pass that ends at this step the one behind it is kept")
        .extracting(found -> found.manifest().step()).contains(steps / 20 * 20);
  }

  private void awaitWaits(List<String> said) throws Exception {
    List<String> operations = new ArrayList<>();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    while (!operations.containsAll(said) && System.nanoTime() < deadline) {
      operations = get(node.waits().list()).stream().map(Wait::operation).toList();
    }
    assertThat(operations).containsAll(said);
  }

  /** All has been trained: who is lost now does not undo it, and nobody is waited for in its place. */
  @Test
  void below_the_minimum_at_the_end_the_run_ends_all_the_same() throws Exception {
    held = new CountDownLatch(1);
    List<Deployed> trainers = trainers(job(2, 3), 2);
    awaitBatches(20);
    stop.set(true);
    awaitWaits(List.of("end of the run"));
    get(vertx.undeploy(get(trainers.get(1).id())));
    RunResult alone = get(trainers.get(0).trainer().result());
    assertThat(alone.steps()).isPositive();
    assertThat(alone.parametersHash()).isNotEmpty();
  }

  /** It waited to be let in when the others came to their end; alone it would be enough to begin the job anew. */
  @Test
  void who_comes_when_the_run_ends_is_refused() throws Exception {
    held = new CountDownLatch(1);
    List<Deployed> trainers = trainers(job(1, 3), 2);
    awaitBatches(20);
    stop.set(true);
    awaitWaits(List.of("end of the run"));
    Deployed late = trainer(job(1, 3));
    awaitWaits(List.of("join of group elastic"));
    held.countDown();
    assertSame(trainers);
    assertThatThrownBy(() -> get(late.id())).hasStackTraceContaining("the run of group elastic has ended");
    assertThat(get(trainers.get(0).trainer().result()).trainers()).isEqualTo(2);
  }

  @Test
  void over_a_store_trainers_need_no_rendezvous_and_come_to_the_same_parameters(@TempDir Path meeting) throws Exception {
    stop.set(true); // behind the first pass
    List<Deployed> atTheService = trainers(job(2, 3), 2); // each waits for the other
    assertSame(atTheService);
    Vertx elsewhere = Vertx.vertx();
    Node alone = Node.embedded(elsewhere, null, "alone"); // in whose directory there is nothing
    JobConfig job = job(2, 3, new JsonObject(), new JsonObject().put("store", "file:" + meeting).put("failure_timeout_ms", 60_000));
    List<Deployed> overFiles = List.of(trainer(alone, job, 0), trainer(alone, job, 1));
    assertSame(overFiles);
    RunResult result = get(overFiles.get(0).trainer().result());
    assertThat(result.trainers()).isEqualTo(2);
    assertThat(result.parametersHash()).isEqualTo(get(atTheService.get(0).trainer().result()).parametersHash());
    get(alone.close().eventually(elsewhere::close));
  }

  @Test
  void below_the_minimum_training_waits_and_says_so_until_somebody_comes() throws Exception {
    JobConfig job = job(2, 3);
    List<Deployed> trainers = trainers(job, 2); // begins with two, when nobody has come for a while
    awaitBatches(50);
    get(vertx.undeploy(get(trainers.remove(0).id())));
    awaitWaits(List.of("the next generation of trainers", "join of group elastic"));
    int before = trained.get();
    trainers.add(trainer(job));
    awaitBatches(50);
    assertThat(trained.get()).isGreaterThanOrEqualTo(before + 50);
    stop.set(true);
    assertSame(trainers);
  }
}
