package io.regatta.training.heter.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.index.NDIndex;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.progress.Progress;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.run.LocalCompute;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.session.LocalSession;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Networks whose part heter workers compute, in this process. The oracle is the same job in one piece: values, running
 * means and rows have the same bits.
 */
class RemotePartTest {

  private static final int BATCH = 8;
  private static final int STEPS = 20;

  @TempDir
  Path dir;

  /** Results of a replica: hash of all values, running means, loss. */
  private record End(String hash, Map<String, List<Float>> frozen, float loss) {}

  private static JobConfig job(CutNetworks network, int workers, JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "cut").put("min_block", 16).put("batch_size",
        BATCH).put("max_steps", STEPS)
        .put("epochs", 100).put("optimizer", new JsonObject().put("kind", "adagrad").put("learning_rate", 0.05))
        .put("heter", new JsonObject().put("workers", workers).put("part", network.part()).put("seed_batches", true))
        .mergeIn(more, true));
  }

  private static ArrayDataset data(CutNetworks network, NDManager manager, int batch, int first, int every) {
    Random random = new Random(3);
    int width = (int) network.input(1).size();
    int rows = 48 / every;
    float[] xs = new float[rows * width];
    float[] ys = new float[rows];
    for (int i = 0; i < 48; i++) {
      for (int k = 0; k < width; k++) {
        float x = network.takesIds() ? random.nextInt(CutNetworks.IDS) : (float) random.nextGaussian();
        if (i % every == first && i / every < rows) {
          xs[i / every * width + k] = x;
        }
      }
      float y = random.nextInt(CutNetworks.CLASSES);
      if (i % every == first && i / every < rows) {
        ys[i / every] = y;
      }
    }
    NDArray data;
    if (network.takesIds()) {
      long[] ids = new long[xs.length];
      for (int i = 0; i < ids.length; i++) {
        ids[i] = (long) xs[i];
      }
      data = manager.create(ids, network.input(rows));
    } else {
      data = manager.create(xs, network.input(rows));
    }
    return new ArrayDataset.Builder().setData(data).optLabels(manager.create(ys, new Shape(rows,
        1))).setSampling(batch, false).build();
  }

  private interface Loop {
    void train(FleetTrainer trainer, ArrayDataset data) throws Exception;
  }

  private static TrainingProgram program(CutNetworks network, Map<Integer, End> ends, Loop loop) {
    return worker -> {
      int batch = worker.job().batchSize();
      try (Model model = Model.newInstance("cut", worker.device())) {
        model.setBlock(network.block());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss()).optOptimizer(worker.optimizer()))) {
          trainer.initialize(network.input(batch));
          loop.train(trainer, data(network, trainer.getManager(), batch, worker.shardIndex(), worker.shardCount()));
          Map<String, List<Float>> frozen = new ConcurrentHashMap<>();
          trainer.frozenValues().forEach((name, values) -> {
            List<Float> list = new ArrayList<>();
            for (float value : values) {
              list.add(value);
            }
            frozen.put(name, list);
          });
          worker.settle(trainer);
          Float loss = trainer.getTrainingResult().getTrainLoss();
          ends.put(worker.shardIndex(), new End("", frozen, loss == null ? 0 : loss));
        }
      }
    };
  }

  private static void fit(FleetTrainer trainer, ArrayDataset data) throws Exception {
    EasyTrain.fit(trainer, 100, data, null);
  }

  /** Trains in one piece, or with heter workers in this process; ends by replica. */
  private static Map<Integer, End> trained(CutNetworks network, int workers, JsonObject more) {
    JobConfig job = job(network, workers, more);
    Map<Integer, End> ends = new ConcurrentHashMap<>();
    TrainingProgram program = program(network, ends, RemotePartTest::fit);
    List<LocalCompute> computes = new ArrayList<>();
    try (SharedShards shards = new SharedShards(job)) {
      for (int i = 0; i < workers; i++) {
        computes.add(new LocalCompute(job, program).start());
      }
      if (workers > 0) {
        shards.cut(rank -> computes.get(rank % workers));
      }
      List<RunResult> results = shards.run(program);
      ends.replaceAll((index, end) -> new End(results.get(index / job.threads()).parametersHash(), end.frozen(),
          end.loss()));
    } finally {
      computes.forEach(LocalCompute::close);
    }
    computes.forEach(compute -> {
      compute.ended().join();
      assertThat(compute.sums().batches()).as("batches at each heter worker").isPositive();
    });
    return ends;
  }

  private static JsonObject trainers(int trainers) {
    return new JsonObject().put("trainers", trainers);
  }

  @ParameterizedTest
  @EnumSource
  void givesTheBitsOfTheNetworkInOnePiece(CutNetworks network) {
    Map<Integer, End> whole = trained(network, 0, trainers(2));
    assertThat(trained(network, 2, trainers(2))).isEqualTo(whole);
    assertThat(whole.get(0).hash()).isNotEmpty();
  }

  static Stream<Arguments> jobs() {
    return Stream.of(
        Arguments.of(CutNetworks.TABLE, 1, new JsonObject().put("trainers", 1)),
        Arguments.of(CutNetworks.TABLE, 1, new JsonObject().put("trainers", 4)),
        Arguments.of(CutNetworks.RESNET, 2, new JsonObject().put("trainers", 4)),
        Arguments.of(CutNetworks.TABLE, 1, new JsonObject().put("trainers", 2).put("heter",
            new JsonObject().put("in_flight", 2))),
        Arguments.of(CutNetworks.TABLE, 1, new JsonObject().put("mode", "async")),
        Arguments.of(CutNetworks.DROPOUT, 1, new JsonObject().put("mode", "half_async")),
        Arguments.of(CutNetworks.LSTM_LAYERS, 1, new JsonObject().put("mode", "collective").put("trainers", 2)),
        Arguments.of(CutNetworks.RESNET, 1, new JsonObject().put("mode", "collective").put("trainers", 2)));
  }

  @ParameterizedTest
  @MethodSource("jobs")
  void givesTheSameBitsInEveryMode(CutNetworks network, int workers, JsonObject more) {
    assertThat(trained(network, workers, more)).isEqualTo(trained(network, 0, more));
  }

  /** Trains alone in this process. */
  private static RunResult alone(JobConfig job, CutNetworks network, Loop loop) {
    TrainingProgram program = program(network, new ConcurrentHashMap<>(), loop);
    if (!job.heter().isCut()) {
      return LocalRun.run(job, program, Progress.none());
    }
    try (LocalCompute compute = new LocalCompute(job, program).start()) {
      return LocalRun.run(new LocalSession(job, compute), program, Progress.none(), null, GpuAssignment.NONE);
    }
  }

  @Test
  void resumesFromASnapshotWithTheSameBits() {
    JsonObject first = new JsonObject().put("max_steps", 10).put("output", dir.resolve("cut").toString())
        .put("snapshots", new JsonObject().put("every_steps", 10));
    alone(job(CutNetworks.DROPOUT, 1, first), CutNetworks.DROPOUT, RemotePartTest::fit);
    RunResult resumed = alone(job(CutNetworks.DROPOUT, 1, new JsonObject().put("resume",
        dir.resolve("cut").toString())),
        CutNetworks.DROPOUT, RemotePartTest::fit);
    RunResult whole = alone(job(CutNetworks.DROPOUT, 0, new JsonObject()), CutNetworks.DROPOUT, RemotePartTest::fit);
    assertThat(resumed.steps()).isEqualTo(STEPS);
    assertThat(resumed.parametersHash()).isEqualTo(whole.parametersHash());
  }

  private static void refused(CutNetworks network, Loop loop, String... parts) {
    assertThatThrownBy(() -> alone(job(network, 1, new JsonObject()), network,
        loop)).isInstanceOf(RegattaException.class)
        .hasMessageContainingAll(parts).message().doesNotContain("\n");
  }

  @Test
  void refusesABackwardPassOfAnotherLoss() {
    refused(CutNetworks.MLP, (trainer, data) -> {
      for (Batch batch : trainer.iterateDataset(data)) {
        try (batch; GradientCollector collector = trainer.newGradientCollector()) {
          NDArray loss = trainer.getLoss().evaluate(batch.getLabels(), trainer.forward(batch.getData()));
          collector.backward(loss.mul(2));
        }
      }
    }, "trainer 0 of job cut", "the loss of the backward pass is", "TrainingConfig");
  }

  @Test
  void refusesASecondForwardPassInAStep() {
    refused(CutNetworks.MLP, (trainer, data) -> {
      for (Batch batch : trainer.iterateDataset(data)) {
        try (batch; GradientCollector collector = trainer.newGradientCollector()) {
          trainer.forward(batch.getData());
          trainer.forward(batch.getData());
        }
      }
    }, "accumulates gradients over several forward passes");
  }

  @Test
  void refusesABatchOfAnotherWidthByName() {
    refused(CutNetworks.LSTM_LAYERS, (trainer, data) -> {
      for (long length : new long[] {4, 3}) {
        try (GradientCollector collector = trainer.newGradientCollector();
            NDManager scope = trainer.getManager().newSubManager()) {
          NDArray labels = scope.zeros(new Shape(BATCH, 1));
          trainer.forward(new NDList(scope.ones(new Shape(BATCH, length, 5))), new NDList(labels));
        }
      }
    }, "input 0 float32 [*, 3, 6]", "input 0 float32 [*, 4, 6]");
  }

  @Test
  void refusesABatchWithoutLabels() {
    refused(CutNetworks.MLP, (trainer, data) -> {
      try (GradientCollector collector = trainer.newGradientCollector();
            NDManager scope = trainer.getManager().newSubManager()) {
        trainer.forward(new NDList(scope.ones(new Shape(BATCH, 5))));
      }
    }, "labels of this batch are not known", "trainer.forward(data, labels)");
  }

  @Test
  void refusesANetworkWithTablesAndNoMark() {
    JobConfig job = job(CutNetworks.MLP, 1, new JsonObject());
    refusedToStart(job, CutNetworks.LOSS_OF_TABLE, "has sparse tables and no block that is marked with Heter.remote");
  }

  private static void refusedToStart(JobConfig job, CutNetworks network, String part) {
    TrainingProgram program = program(network, new ConcurrentHashMap<>(), RemotePartTest::fit);
    try (LocalCompute compute = new LocalCompute(job, program).start()) {
      assertThatThrownBy(() -> LocalRun.run(new LocalSession(job, compute), program, Progress.none(), null,
          GpuAssignment.NONE))
          .isInstanceOf(InvalidInput.class).hasMessageContaining(part);
    }
  }

  @Test
  void refusesAHeterWorkerWithAnotherNetwork() {
    JobConfig job = job(CutNetworks.MLP, 1, new JsonObject());
    TrainingProgram trainers = program(CutNetworks.MLP, new ConcurrentHashMap<>(), RemotePartTest::fit);
    TrainingProgram workers = program(CutNetworks.DROPOUT, new ConcurrentHashMap<>(), RemotePartTest::fit);
    try (LocalCompute compute = new LocalCompute(job, workers).start()) {
      assertThatThrownBy(() -> LocalRun.run(new LocalSession(job, compute), trainers, Progress.none(), null,
          GpuAssignment.NONE))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("start all processes with the same job and program");
    }
  }

  @ParameterizedTest
  @CsvSource({"fail, true", "skip, false"})
  void followsTheNanPolicy(String policy, boolean fails) {
    JsonObject more = new JsonObject().put("nan_policy", policy).put("max_steps", 3);
    Loop loop = (trainer, data) -> {
      int made = 0;
      for (Batch batch : trainer.iterateDataset(data)) {
        try (batch) {
          if (made++ == 1) {
            batch.getData().head().set(new NDIndex("..."), Float.NaN);
          }
          EasyTrain.trainBatch(trainer, batch);
          trainer.step();
        }
      }
    };
    JobConfig cut = job(CutNetworks.WHOLE, 1, more);
    if (fails) {
      assertThatThrownBy(() -> alone(cut, CutNetworks.WHOLE,
          loop)).isInstanceOf(RegattaException.class).hasMessageContaining("NaN");
    } else {
      assertThat(alone(cut, CutNetworks.WHOLE, loop).parametersHash())
          .isEqualTo(alone(job(CutNetworks.WHOLE, 0, more), CutNetworks.WHOLE, loop).parametersHash());
    }
  }

  @Test
  void failsInOneLine_whenTheProgramOfTheHeterWorkerMakesNoTrainer() {
    JobConfig job = job(CutNetworks.MLP, 1, new JsonObject());
    TrainingProgram program = program(CutNetworks.MLP, new ConcurrentHashMap<>(), RemotePartTest::fit);
    try (LocalCompute compute = new LocalCompute(job, worker -> { }).start()) {
      assertThatThrownBy(() -> LocalRun.run(new LocalSession(job, compute), program, Progress.none(), null,
          GpuAssignment.NONE))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("made no trainer");
    }
  }

  @Test
  void failsAtOnce_whenTheHeterWorkerOfThisProcessHasBeenClosed() {
    LocalCompute compute = new LocalCompute(job(CutNetworks.MLP, 1, new JsonObject()), worker -> { }).start();
    compute.close();
    BatchToCompute batch = new BatchToCompute(new BatchId(new TrainerId(0, 1), 0, 1), CutBatch.getDefaultInstance(), List.of());
    assertThat(compute.compute(batch)).failsWithin(Duration.ofSeconds(10)).withThrowableOfType(ExecutionException.class)
        .havingCause().isInstanceOf(RegattaException.class);
  }
}
