package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.RankSums;
import io.regatta.training.rank.Toy;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.lang.reflect.Proxy;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Against the engine's own batch normalisation of the whole batch. */
class SyncBatchNormTest {

  private static final Offset<Float> ROUNDING = Offset.offset(2e-4f);

  /** Outputs, gradients by input and parameters, and running values of two steps on random data. */
  private static Map<String, float[]> trained(Block block, Shape shape) {
    Map<String, float[]> seen = new LinkedHashMap<>();
    try (NDManager manager = NDManager.newBaseManager()) {
      block.setInitializer(Initializer.ONES, Parameter.Type.OTHER);
      block.initialize(manager, DataType.FLOAT32, shape);
      ParameterStore store = new ParameterStore(manager, false);
      Random random = new Random(3);
      for (int step = 0; step < 2; step++) {
        NDArray x = values(manager, shape, random, 3, 2);
        NDArray weights = values(manager, shape, random, 0, 1);
        x.setRequiresGradient(true);
        try (GradientCollector collector = Engines.newGradientCollector()) {
          NDArray y = block.forward(store, new NDList(x), true).singletonOrThrow();
          collector.backward(y.mul(weights).sum());
          seen.put("output " + step, y.toFloatArray());
        }
        seen.put("gradient by input " + step, x.getGradient().toFloatArray());
        for (Pair<String, Parameter> p : block.getParameters()) {
          NDArray array = p.getValue().getArray();
          String name = p.getKey() + " " + step;
          seen.put(p.getValue().requiresGradient() ? "gradient by " + name : name,
              (p.getValue().requiresGradient() ? array.getGradient() : array).toFloatArray());
        }
      }
    }
    return seen;
  }

  private static NDArray values(NDManager manager, Shape shape, Random random, float mean, float deviation) {
    float[] values = new float[(int) shape.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = mean + deviation * (float) random.nextGaussian();
    }
    return manager.create(values, shape);
  }

  @ParameterizedTest
  @CsvSource({"8, 3, 1", "6, 4, 5"})
  void aloneItIsBatchNormalisation(int rows, int channels, int side) {
    Engines.start("MXNet", 1);
    Shape shape = side == 1 ? new Shape(rows, channels) : new Shape(rows, channels, side, side);
    Map<String, float[]> expected = trained(BatchNorm.builder().build(), shape);
    Map<String, float[]> sync = trained(new SyncBatchNorm(), shape);
    assertThat(sync.keySet()).hasSize(12).isEqualTo(expected.keySet());
    expected.forEach((name, values) -> assertThat(sync.get(name)).as(name).containsExactly(values, ROUNDING));
  }

  /** Two ways that meet again, so that the engine may come back through them in any order. */
  private static Block net(boolean sync) {
    SequentialBlock block = new SequentialBlock().add(norm(sync)).add(Linear.builder().setUnits(6).build());
    for (int i = 0; i < 3; i++) {
      block.add(new ParallelBlock(out -> new NDList(out.get(0).head().add(out.get(1).head()).add(out.get(2).head())),
          List.of(way(sync), way(sync), way(sync)))).add(Activation::relu);
    }
    return block.add(Linear.builder().setUnits(1).build());
  }

  private static Block way(boolean sync) {
    return new SequentialBlock().add(Linear.builder().setUnits(6).build()).add(norm(sync));
  }

  private static Block norm(boolean sync) {
    return sync ? new SyncBatchNorm() : BatchNorm.builder().build();
  }

  /** Values and running values after 24 steps of 24 rows. */
  private static float[] trained(int ranks, boolean sync) {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    JsonObject job = new JsonObject().put("mode", "collective").put("trainers", ranks).put("batch_size", 24 / ranks)
        .put("engine", "MXNet").put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 0.02));
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      shards.run(worker -> {
        try (Model model = Model.newInstance("normalised")) {
          model.setBlock(net(sync));
          try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
            trainer.initialize(Toy.input(24 / ranks));
            EasyTrain.fit(trainer, 6, Toy.data(trainer.getManager(), 96, 24 / ranks, worker.rank(), ranks), null);
            ends.put(worker.rank(), all(model));
          }
        }
      });
    }
    for (float[] end : ends.values()) {
      assertThat(end).containsExactly(ends.get(0));
    }
    return ends.get(0);
  }

  private static float[] all(Model model) {
    FloatBuffer all = FloatBuffer.allocate(1 << 12);
    model.getBlock().getParameters().forEach(p -> all.put(p.getValue().getArray().toFloatArray()));
    return Arrays.copyOf(all.array(), all.position());
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void ranksNormaliseAsOneBatch(int ranks) {
    float[] whole = trained(1, false);
    assertThat(Toy.distance(trained(ranks, true), whole)).isLessThan(1e-4);
    assertThat(Toy.distance(trained(1, true), whole)).isLessThan(1e-4);
  }

  @Test
  void aRankWithoutABatchEndsTheRunWithAReason() {
    JsonObject job = new JsonObject().put("mode", "collective").put("trainers", 2).put("batch_size", 8).put("engine", "MXNet")
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 0.02));
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      assertThatThrownBy(() -> shards.run(worker -> {
        try (Model model = Model.newInstance("normalised")) {
          model.setBlock(net(true));
          try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
            trainer.initialize(Toy.input(8));
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 8 * (1 + worker.rank()), 8, 0, 1), null);
          }
        }
      })).hasStackTraceContaining("every rank must take every step with a batch");
    }
  }

  @Test
  void otherModesHaveNoSumsOverRanks() {
    JsonObject job = new JsonObject().put("mode", "async").put("trainers", 2).put("engine", "MXNet");
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      assertThatThrownBy(() -> shards.run(worker -> {
        try (Model model = Model.newInstance("normalised")) {
          model.setBlock(net(true));
          worker.distributedTrainer(model, Toy.config(worker.optimizer())).initialize(Toy.input(8));
        }
      })).hasStackTraceContaining("use BatchNorm in other modes");
    }
  }

  /** However many trainers there are when the job begins. */
  @Test
  void anElasticJobIsRefusedAtItsStart() {
    TrainerSession alone = (TrainerSession) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] {TrainerSession.class},
        (self, method, arguments) -> switch (method.getName()) {
          case "isElastic" -> true;
          case "job" -> Toy.job();
          case "worldSize" -> 1;
          default -> throw new AssertionError(method);
        });
    Block net = new SequentialBlock().add(new SyncBatchNorm());
    assertThatThrownBy(() -> RankSums.attach(net, alone)).isInstanceOf(InvalidInput.class).hasMessageContaining("in elastic jobs");
  }
}
