package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several ranks and replicas on shards in this process, against one rank that sees all the data. */
class RanksTest {

  private static final int ROWS = 160;

  /** Trains on this replica's part in order and hands out the values that it ends with. */
  private static TrainingProgram program(int epochs, Map<Integer, float[]> ends) {
    return worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(worker.job().batchSize()));
        EasyTrain.fit(trainer, epochs, Toy.data(trainer.getManager(), ROWS, worker.job().batchSize(),
            worker.shardIndex(), worker.shardCount()), null);
        worker.settle(trainer);
        ends.put(worker.shardIndex(), Toy.values(model));
      }
    };
  }

  private static JsonObject job(String optimizer, int batch) {
    return new JsonObject().put("batch_size", batch)
        .put("optimizer", new JsonObject().put("kind", optimizer).put("learning_rate", 0.05));
  }

  private static float[] local(String optimizer, int batch, int epochs) {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    LocalRun.run(Toy.job(job(optimizer, batch)), program(epochs, ends), Progress.none());
    return ends.get(0);
  }

  private static Map<Integer, float[]> distributed(JsonObject job, int epochs) {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      List<RunResult> results = shards.run(program(epochs, ends));
      assertThat(results).allSatisfy(r -> assertThat(r.parametersHash()).isEqualTo(results.get(0).parametersHash()));
      assertThat(shards.jobs(0)).as("jobs left behind").isEmpty();
    }
    return ends;
  }

  @ParameterizedTest
  @CsvSource({"sgd, 2, 1", "adagrad, 2, 1", "sgd, 1, 2", "sgd, 2, 2"})
  void ranksAndReplicasWhoseBatchesConcatenateEqualOne(String optimizer, int trainers, int threads) {
    float[] reference = local(optimizer, 40, 10);
    Map<Integer, float[]> ends = distributed(job(optimizer, 40 / trainers / threads).put("trainers", trainers)
        .put("threads", threads).put("shards", 2), 10);
    assertThat(ends).hasSize(trainers * threads);
    ends.values().forEach(end -> assertThat(end).isEqualTo(ends.get(0)));
    assertThat(Toy.distance(ends.get(0), reference)).isLessThanOrEqualTo(1e-4);
  }

  @Test
  void oneRankInSyncEqualsLocalBitForBitOnAnyNumberOfShards() {
    float[] reference = local("adam", 20, 3);
    for (int shards : new int[] {1, 2, 5}) {
      assertThat(distributed(job("adam", 20).put("shards", shards), 3).get(0)).containsExactly(reference);
    }
  }

  @Test
  void twoSyncRunsGiveTheSameBits() {
    JsonObject job = job("momentum", 8).put("trainers", 3).put("shards", 2);
    float[] once = distributed(job, 4).get(0);
    assertThat(distributed(job, 4).get(0)).isEqualTo(once);
  }

  @ParameterizedTest
  @ValueSource(strings = {"half_async", "async", "ssp"})
  void theOtherModesLearnToo(String mode) {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    double[] errors = new double[2];
    JsonObject job = job("sgd", 20).put("trainers", 2).put("mode", mode).put("staleness_bound", 1);
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      shards.run(worker -> {
        try (Model model = Toy.model();
            FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(20));
          double untrained = meanSquaredError(trainer);
          EasyTrain.fit(trainer, 20, Toy.data(trainer.getManager(), ROWS, 20, worker.rank(), 2), null);
          worker.settle(trainer);
          ends.put(worker.rank(), Toy.values(model));
          if (worker.isFirstWorker()) {
            errors[0] = untrained;
            errors[1] = meanSquaredError(trainer);
          }
        }
      });
    }
    assertThat(ends.get(1)).isEqualTo(ends.get(0));
    assertThat(errors[1]).as("error of the trained model; mostly a fiftieth of the untrained one when it was written")
        .isLessThan(0.3 * errors[0]);
  }

  private static double meanSquaredError(FleetTrainer trainer) throws Exception {
    double sum = 0;
    for (Batch batch : Toy.data(trainer.getManager(), ROWS, 20, 0, 1).getData(trainer.getManager())) {
      try (batch) {
        NDList predicted = trainer.evaluate(batch.getData());
        sum += predicted.singletonOrThrow().sub(batch.getLabels().singletonOrThrow()).square().sum().getFloat();
      }
    }
    return sum / ROWS;
  }

  @Test
  void geoWithOneTrainerAndAnExchangeEveryStepIsPlainSgd() {
    float[] reference = local("sgd", 20, 5);
    float[] geo = distributed(job("sgd", 20).put("mode", "geo").put("k_steps", 1), 5).get(0);
    assertThat(Toy.distance(geo, reference)).isLessThanOrEqualTo(1e-5);
  }

  @Test
  void geoTrainersAgreeInTheEnd() {
    Map<Integer, float[]> ends = distributed(job("sgd", 20).put("trainers", 2).put("mode", "geo").put("k_steps", 3), 5);
    assertThat(ends.get(1)).isEqualTo(ends.get(0));
  }

  @Test
  void geoRefusesOtherOptimizers() {
    try (SharedShards shards = new SharedShards(Toy.job(job("adam", 20).put("mode", "geo")))) {
      assertThatThrownBy(() -> shards.run(program(1, new ConcurrentHashMap<>())))
          .hasMessageContaining("geo").hasMessageContaining("SGD");
    }
  }

  /** Schedules, bounds and status count a step as one batch of every replica, whether they are merged or not. */
  @ParameterizedTest
  @ValueSource(strings = {"sync", "half_async", "async", "ssp"})
  void aStepIsOneBatchOfEachReplica(String mode) {
    JsonObject job = job("sgd", 4).put("trainers", 2).put("threads", 2).put("mode", mode).put("staleness_bound", 1);
    List<Long> lastSteps = new CopyOnWriteArrayList<>();
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      List<RunResult> results = shards.run(worker -> {
        try (Model model = Toy.model();
            FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(4));
          EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 24, 4, 0, 1), null);
          worker.barrier();
          if (worker.isFirstWorker()) {
            shards.status(0).trainers().forEach(t -> lastSteps.add(t.lastStep()));
          }
          worker.barrier();
        }
      });
      assertThat(lastSteps).containsExactly(5L, 5L);
      assertThat(results.get(0).steps()).isEqualTo(6);
      if (mode.equals("ssp")) {
        assertThat(results.get(0).clockLeadMax()).isLessThanOrEqualTo(1);
      }
    }
  }

  /** Rank 0 takes 3 steps per epoch, rank 1 takes 5; between epochs they meet. */
  @ParameterizedTest
  @ValueSource(strings = {"sync", "ssp", "async"})
  void ranksWithDifferentNumbersOfStepsMeetInABarrier(String mode) {
    JsonObject job = job("sgd", 4).put("trainers", 2).put("mode", mode).put("staleness_bound", 1);
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      List<RunResult> results = shards.run(worker -> {
        try (Model model = Toy.model();
            FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(4));
          int rows = worker.rank() == 0 ? 12 : 20;
          for (int epoch = 0; epoch < 3; epoch++) {
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), rows, 4, 0, 1), null);
            double[] sum = worker.allReduce(new double[] {rows, worker.rank()}, ReduceOp.SUM);
            assertThat(sum).containsExactly(32, 1);
          }
          assertThat(worker.allReduce(new double[] {trainer.steps()}, ReduceOp.MAX)).containsExactly(15);
        }
      });
      assertThat(results.get(0).examples()).isEqualTo(3 * 32);
      assertThat(results.get(0).steps()).as("in sync those of all").isEqualTo(mode.equals("sync") ? 15 : 9);
    }
  }

  @Test
  void sgdStepsAreCountedFromTheHighestAfterABarrier() {
    JsonObject job = job("sgd", 4).put("trainers", 2);
    Map<Integer, float[]> first = uneven(job);
    Map<Integer, float[]> second = uneven(job);
    assertThat(second.get(0)).isEqualTo(first.get(0));
    assertThat(first.get(1)).isEqualTo(first.get(0));
  }

  private static Map<Integer, float[]> uneven(JsonObject job) {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      shards.run(worker -> {
        try (Model model = Toy.model();
            FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(4));
          for (int epoch = 0; epoch < 3; epoch++) {
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), worker.rank() == 0 ? 12 : 28, 4, 0, 1), null);
            worker.barrier();
          }
          ends.put(worker.rank(), Toy.values(model));
        }
      });
    }
    return ends;
  }

  @Test
  void aReplicaThatEndsEarlyLeavesTheBarrier() {
    JsonObject job = job("sgd", 4).put("threads", 2);
    RunResult result = LocalRun.run(Toy.job(job), worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(4));
        EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), worker.replica() == 0 ? 12 : 40, 4, 0, 1), null);
      }
    }, Progress.none());
    assertThat(result.examples()).isEqualTo(52);
  }

  @Test
  void maxStepsEndsTraining() {
    RunResult result = LocalRun.run(Toy.job(job("sgd", 4).put("max_steps", 17)), program(5, new ConcurrentHashMap<>()),
        Progress.none());
    assertThat(result.steps()).isEqualTo(17);
  }

  /** One batch in three of rank 1 has a label that no loss survives. */
  private static TrainingProgram poisoned() {
    return worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(4));
        for (int step = 0; step < 6; step++) {
          NDManager manager = trainer.getManager();
          float label = worker.rank() == 1 && step % 3 == 0 ? Float.NaN : 1;
          try (GradientCollector collector = trainer.newGradientCollector()) {
            NDList out = trainer.forward(new NDList(manager.ones(Toy.input(4))));
            collector.backward(trainer.getLoss().evaluate(new NDList(manager.full(new Shape(4, 1), label)), out));
          }
          trainer.step();
        }
        for (float v : Toy.values(model)) {
          assertThat(v).isFinite();
        }
      }
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"sync", "async", "geo"})
  void aNanGradientIsSkippedAndCounted(String mode) {
    JsonObject job = job("sgd", 4).put("trainers", 2).put("mode", mode).put("nan_policy", "skip");
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      assertThat(shards.run(poisoned()).get(0).skippedPushes()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sync", "async", "geo"})
  void aNanGradientEndsTheRunOfItsTrainer(String mode) {
    JsonObject job = job("sgd", 4).put("trainers", 2).put("mode", mode);
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      assertThatThrownBy(() -> shards.run(poisoned())).isNotNull();
      assertThatThrownBy(() -> shards.result(1).join()).hasCauseInstanceOf(InvalidInput.class)
          .hasMessageContaining("trainer 1").hasMessageContaining("NaN").hasMessageContaining("step 0");
    }
  }

  @Test
  void aFailingProgramIsNamed() {
    TrainingProgram broken = worker -> {
      throw new IllegalArgumentException("no such column");
    };
    assertThatThrownBy(() -> LocalRun.run(Toy.job(), broken, Progress.none()))
        .hasMessageContaining("of job toy failed on trainer 0").hasMessageContaining("no such column");
  }
}
