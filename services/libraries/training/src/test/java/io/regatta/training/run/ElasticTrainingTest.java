package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.TopAccuracy;
import io.regatta.core.progress.Progress;
import io.regatta.data.Layout;
import io.regatta.data.LoaderOptions;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.training.TrainingProgram;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trainers of an elastic job that are killed at random moments, and others that come. */
class ElasticTrainingTest {

  private static final int TRAINERS = 4;
  private static final int CLASSES = 4;
  private static final int IMAGES = 320;
  private static final int KILLS = 100;
  private static final int DEADLINE_SECONDS = 120;

  private static JobConfig job(int epochs, int trainers, int min) {
    return job(epochs, trainers, min, new JsonObject());
  }

  private static JobConfig job(int epochs, int trainers, int min, JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "elastic").put("mode", "collective").put("trainers", trainers)
        .put("batch_size", 32 / trainers).put("epochs", epochs).put("model_thread_idle_ms", 20_000)
        .put("data", new JsonObject().put("shuffle_buffer", 100))
        .put("collective", new JsonObject().put("min_trainers", min).put("bucket_bytes", 600).put("last_bucket_bytes", 200))
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.02)).mergeIn(more));
  }

  /** A small net with running means, on images that can be learnt. */
  private static TrainingProgram program() {
    return program(new AtomicBoolean());
  }

  /** @param stop ends the run behind the next pass */
  private static TrainingProgram program(AtomicBoolean stop) {
    return program(stop, true);
  }

  /** @param runningMeans whether the net has parameters that are not trained, or none, as LeNet */
  private static TrainingProgram program(AtomicBoolean stop, boolean runningMeans) {
    return worker -> {
      JobConfig job = worker.job();
      LoaderOptions options = new LoaderOptions(job.batchSize(), false, job.data().shuffleBuffer(), job.seed(), 4, 1, true, 0, 1);
      try (SlotDataset train = new SlotDataset(new GeneratedImages("train", 7, 0, IMAGES, CLASSES, 1, 6), options)
              .shard(worker.shardIndex(), worker.shardCount());
          SlotDataset test = new SlotDataset(new GeneratedImages("test", 7, IMAGES, 80, CLASSES, 1, 6), LoaderOptions.inOrder(20))
              .shard(worker.shardIndex(), worker.shardCount());
          Model model = Model.newInstance("small", worker.device())) {
        SequentialBlock net = new SequentialBlock().add(Linear.builder().setUnits(12).build());
        if (runningMeans) {
          net.add(BatchNorm.builder().build());
        }
        model.setBlock(net.add(Activation::relu).add(Linear.builder().setUnits(CLASSES).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss("loss")).optOptimizer(worker.optimizer()))) {
          trainer.initialize(SlotArrays.shapes(train.layout(), job.batchSize()));
          double[] over = {0};
          for (int epoch = 0; epoch < job.epochs() && over[0] == 0; epoch++) {
            TrainingReport report = worker.trainFromDataset(trainer, train, null, 100, false);
            double[] examples = worker.allReduce(new double[] {report.examples()}, ReduceOp.SUM);
            if (examples[0] == 0) {
              continue; // behind this newcomer
            }
            over = worker.allReduce(new double[] {stop.get() ? 1 : 0}, ReduceOp.MAX);
            worker.settle(trainer);
            TopAccuracy mine = new TopAccuracy();
            for (Batch batch : trainer.iterateDataset(test)) {
              try (batch) {
                NDList scores = trainer.evaluate(batch.getData());
                mine.add(scores.singletonOrThrow().toFloatArray(), batch.getLabels().singletonOrThrow().toFloatArray());
                scores.close();
              }
            }
            TopAccuracy all = TopAccuracy.ofSums(worker.allReduce(mine.sums(), ReduceOp.SUM));
            worker.report("accuracy", all.top1());
            worker.report("examples", examples[0]);
          }
          worker.report("steps", trainer.steps());
        }
      }
    };
  }

  private static RunResult end(ElasticJob.Trainer of) throws Exception {
    return of.result().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** With nobody lost an elastic job trains what one rank in this process trains with the same global batch. */
  @Test
  void withoutALossItIsOneProcessesRun() throws Exception {
    ElasticJob job = new ElasticJob(job(4, TRAINERS, 1), 1, program());
    List<ElasticJob.Trainer> trainers = new ArrayList<>();
    for (int r = 0; r < TRAINERS; r++) {
      trainers.add(job.start());
    }
    RunResult first = end(trainers.get(0));
    assertThat(first.steps()).isEqualTo(40);
    assertThat(first.examples()).isEqualTo(4 * IMAGES);
    assertThat(first.accuracy()).isGreaterThan(0.9);
    RunResult alone = LocalRun.run(job(4, 1, 0), program(), Progress.none());
    assertThat(alone.steps()).isEqualTo(40);
    assertThat(first.accuracy()).isCloseTo(alone.accuracy(), within(0.1));
    for (ElasticJob.Trainer trainer : trainers) {
      assertThat(end(trainer).parametersHash()).isEqualTo(first.parametersHash());
    }
  }

  /** Each kill, at any moment of any step or call, ends in a recovery; somebody new comes for each. */
  @Test
  void ahundredKillsEndInAHundredRecoveries() throws Exception {
    killsEndInRecoveries(KILLS, 11, true);
  }

  @Test
  void killsEndInRecoveriesWithoutRunningMeansToo() throws Exception {
    killsEndInRecoveries(KILLS / 4, 12, false);
  }

  private static void killsEndInRecoveries(int kills, long seed, boolean runningMeans) throws Exception {
    Random random = new Random(seed);
    AtomicBoolean stop = new AtomicBoolean();
    ElasticJob job = new ElasticJob(job(1_000_000, TRAINERS, 2), seed, program(stop, runningMeans));
    List<ElasticJob.Trainer> alive = new ArrayList<>();
    for (int r = 0; r < TRAINERS; r++) {
      alive.add(job.start());
    }
    for (int kill = 0; kill < kills; kill++) {
      ElasticJob.Trainer victim = alive.remove(random.nextInt(TRAINERS));
      CompletableFuture<Void> killed = new CompletableFuture<>();
      long calls = random.nextInt(80);
      job.group().killIn(victim.member(), calls, () -> killed.complete(null));
      killed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      victim.kill();
      assertThatThrownBy(() -> end(victim)).hasRootCauseInstanceOf(Cancelled.class);
      if (random.nextBoolean()) { // the others go on with three, or four at once
        job.group().after(random.nextInt(20)).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
      }
      alive.add(job.start());
      job.group().whole().get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    }
    stop.set(true);
    RunResult first = end(alive.get(0));
    for (ElasticJob.Trainer trainer : alive) {
      RunResult result = end(trainer);
      assertThat(result.parametersHash()).isEqualTo(first.parametersHash());
      assertThat(result.steps()).isEqualTo(first.steps());
      assertThat(result.examples()).as("of all trainers, also those that are gone").isEqualTo(first.examples());
      assertThat(result.examplesRepeated()).as("known to all").isEqualTo(first.examplesRepeated());
    }
    assertThat(first.examples()).isPositive();
    assertThat(first.examples() % IMAGES).as("each pass has trained each image once").isZero();
    assertThat(first.examplesRepeated()).as("at most one batch for each kill")
        .isBetween(1L, (long) kills * 32 / TRAINERS);
    assertThat(job.group().generations()).isGreaterThanOrEqualTo(1 + kills);
    assertThat(first.accuracy()).isGreaterThan(0.95);
  }

  /** The work of a program on the batches of a pass. */
  private interface Loop {
    void run(Worker worker, FleetTrainer trainer, Iterator<Batch> batches) throws Exception;
  }

  /** A program with a loop of its own, over generated images. */
  private static TrainingProgram looping(Loop loop) {
    return looping(IMAGES, loop);
  }

  private static TrainingProgram looping(int images, Loop loop) {
    return worker -> {
      LoaderOptions options = new LoaderOptions(worker.job().batchSize(), false, 0, 1, 4, 1, true, 0, 1);
      try (SlotDataset train = new SlotDataset(new GeneratedImages("train", 7, 0, images, CLASSES, 1, 6), options)
              .shard(worker.shardIndex(), worker.shardCount());
          Model model = Model.newInstance("small", worker.device())) {
        model.setBlock(Linear.builder().setUnits(CLASSES).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss("loss")).optOptimizer(worker.optimizer()))) {
          trainer.initialize(SlotArrays.shapes(train.layout(), worker.job().batchSize()));
          trainer.trainsOn(train);
          for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
            loop.run(worker, trainer, trainer.iterateDataset(train).iterator());
          }
        }
      }
    };
  }

  private static void step(FleetTrainer trainer, Batch batch) {
    try (batch) {
      try (GradientCollector collector = trainer.newGradientCollector()) {
        NDList scores = trainer.forward(batch.getData());
        collector.backward(trainer.getLoss().evaluate(batch.getLabels(), scores));
      }
      trainer.step();
    }
  }

  /**
   * The last window of a pass has one example, so one of two ranks has none. That rank joins the step, and has no
   * weight in it.
   */
  @Test
  void aRankWithoutExamplesJoinsAStepWithNoWeight() throws Exception {
    Queue<float[]> ends = new ConcurrentLinkedQueue<>();
    TrainingProgram program = looping(33, (worker, trainer, batches) -> {
      while (batches.hasNext()) {
        step(trainer, batches.next());
      }
      ends.add(trainer.getModel().getBlock().getParameters().valueAt(0).getArray().toFloatArray());
    });
    ElasticJob job = new ElasticJob(job(1, 2, 1), 1, program);
    List<ElasticJob.Trainer> trainers = List.of(job.start(), job.start());
    for (ElasticJob.Trainer trainer : trainers) {
      assertThat(end(trainer).steps()).isEqualTo(2);
      assertThat(end(trainer).examples()).isEqualTo(33);
    }
    LocalRun.run(job(1, 1, 0), program, Progress.none()); // in batches of 32 and 1
    float[] one = ends.remove();
    assertThat(ends.remove()).containsExactly(one);
    assertThat(ends.remove()).containsExactly(one, within(1e-6f));
  }

  /**
   * Adam's correction depends on how often it has updated fresh slots, which is not how often the snapshot's values
   * have been updated.
   */
  @Test
  void when_a_trainer_comes_to_a_run_with_the_values_of_another_then_it_makes_the_same_updates(@TempDir Path dir)
      throws Exception {
    String snapshots = dir.resolve("first").toString();
    TrainingProgram first = looping((worker, trainer, batches) ->
        batches.forEachRemaining(batch -> step(trainer, batch)));
    JsonObject taken = new JsonObject().put("dir", snapshots).put("every_steps", 5);
    LocalRun.run(job(1, 1, 0, new JsonObject().put("snapshots", taken)), first, Progress.none());
    CompletableFuture<Void> begun = new CompletableFuture<>();
    CompletableFuture<Void> come = new CompletableFuture<>();
    Map<Long, List<float[]>> byStep = new ConcurrentHashMap<>();
    TrainingProgram program = looping((worker, trainer, batches) -> {
      while (batches.hasNext()) {
        step(trainer, batches.next());
        byStep.computeIfAbsent(trainer.steps(), n -> new CopyOnWriteArrayList<>())
            .add(trainer.getModel().getBlock().getParameters().valueAt(0).getArray().toFloatArray());
        if (trainer.steps() == 3) {
          begun.complete(null);
          come.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
      }
    });
    ElasticJob job = new ElasticJob(job(3, 2, 1, new JsonObject().put("init_from", snapshots)
        .put("optimizer", new JsonObject().put("kind", "adam").put("learning_rate", 0.02))), 1, program);
    ElasticJob.Trainer there = job.start();
    ElasticJob.Trainer lost = job.start();
    begun.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    lost.kill();
    ElasticJob.Trainer newcomer = job.start();
    come.complete(null);
    assertThat(end(newcomer).parametersHash()).isEqualTo(end(there).parametersHash());
    byStep.keySet().removeIf(n -> n <= 3);
    assertThat(byStep.values()).anyMatch(all -> all.size() == 2)
        .allSatisfy(all -> assertThat(all).allSatisfy(values -> assertThat(values).isEqualTo(all.get(0))));
  }

  /** A rank that is lost with the gradients of a batch has computed it for nothing: another rank trains it. */
  @Test
  void when_a_trainer_is_lost_in_a_step_then_its_batch_is_said_to_be_trained_twice_and_counts_once() throws Exception {
    CompletableFuture<Void> computed = new CompletableFuture<>();
    CompletableFuture<Void> killed = new CompletableFuture<>();
    ElasticJob job = new ElasticJob(job(2, 2, 1), 1, looping((worker, trainer, batches) -> {
      while (batches.hasNext()) {
        Batch batch = batches.next();
        if (worker.rank() == 1 && trainer.steps() == 3) {
          computed.complete(null);
          killed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
        }
        step(trainer, batch);
      }
    }));
    ElasticJob.Trainer survivor = job.start();
    ElasticJob.Trainer lost = job.start();
    computed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    lost.kill();
    killed.complete(null);
    RunResult result = end(survivor);
    assertThat(result.examples()).isEqualTo(2 * IMAGES);
    assertThat(result.examplesRepeated()).isEqualTo(16);
    assertThat(result.examplesResumed()).isZero();
    assertThat(result.toString()).contains("16 examples were trained more than once (at most)");
  }

  /** The next pass begins behind the steps of those who are in the one before still. */
  @Test
  void aPassMayBeLeftForTheNextOne() throws Exception {
    Queue<Long> begun = new ConcurrentLinkedQueue<>();
    ElasticJob job = new ElasticJob(job(2, 2, 1), 1, looping((worker, trainer, batches) -> {
      begun.add(trainer.steps());
      for (int batch = 0; batch < 2 + 3 * worker.rank(); batch++) {
        step(trainer, batches.next());
      }
    }));
    List<ElasticJob.Trainer> trainers = List.of(job.start(), job.start());
    assertThat(end(trainers.get(0)).parametersHash()).isEqualTo(end(trainers.get(1)).parametersHash());
    assertThat(begun).containsExactlyInAnyOrder(0L, 0L, 5L, 5L);
  }

  private static void refused(String message, JsonObject more, TrainingProgram program) throws Exception {
    ElasticJob job = new ElasticJob(JobConfig.of(new JsonObject().put("job", "elastic").put("mode", "collective").put("trainers", 2)
        .put("batch_size", 8).mergeIn(more.put("collective", more.getJsonObject("collective", new JsonObject())
            .put("min_trainers", 1)), true)), 1, program);
    List<ElasticJob.Trainer> trainers = List.of(job.start(), job.start());
    for (ElasticJob.Trainer trainer : trainers) {
      assertThatThrownBy(() -> end(trainer)).hasRootCauseInstanceOf(InvalidInput.class).hasStackTraceContaining(message);
    }
  }

  @Test
  void whatCannotBeElasticIsRefusedInOneLine() throws Exception {
    refused("cannot be assigned anew", new JsonObject(), worker -> {
      try (Model model = Model.newInstance("small", worker.device())) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          trainer.initialize(new Shape(8, 2));
          trainer.iterateDataset(new ArrayDataset.Builder().setData(trainer.getManager().zeros(new Shape(16, 2)))
              .optLabels(trainer.getManager().zeros(new Shape(16, 1))).setSampling(8, false).build());
        }
      }
    });
    refused("calls barrier in the middle of a pass", new JsonObject(), looping((worker, trainer, batches) -> {
      step(trainer, batches.next());
      worker.barrier();
    }));
    refused("requests a batch before it has made a step with the last one", new JsonObject(), looping((worker, trainer, batches) -> {
      Batch first = batches.next();
      Batch ahead = batches.next();
      step(trainer, first);
      step(trainer, ahead);
    }));
    TrainingProgram shuffling = worker -> worker.exampleExchange().exchange(new Layout(1, 0), List.of(List.of(), List.of()));
    refused("remove data.global_shuffle, or collective.min_trainers", new JsonObject(), shuffling);
    refused("remove data.global_shuffle, or collective.store",
        new JsonObject().put("collective", new JsonObject().put("store", "file:meeting")), shuffling);
    refused("remove dgc, localsgd", new JsonObject().put("collective", new JsonObject().put("dgc", true)), program());
    assertThatThrownBy(() -> job(1, 2, 3)).isInstanceOf(InvalidInput.class).hasMessageContaining("min_trainers is 3");
  }
}
