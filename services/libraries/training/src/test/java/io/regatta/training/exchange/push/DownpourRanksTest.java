package io.regatta.training.exchange.push;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import io.regatta.core.exchange.SparseIds;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.result.RunResult;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Downpour with several trainers and replicas. The loss is linear, so that gradients do not depend on the values, and
 * all numbers are sums of powers of two: the values are those of the closed form, bit for bit, in any order of pushes.
 */
class DownpourRanksTest {

  private static final int TRAINERS = 2;
  private static final int THREADS = 2;
  private static final int STEPS = 7;
  private static final int IDS = 5;
  private static final double RATE = 0.125;

  /** The mean of the outputs: row · x + bias. */
  private static final class Mean extends Loss {
    Mean() {
      super("mean");
    }

    @Override
    public NDArray evaluate(NDList labels, NDList predictions) {
      return predictions.singletonOrThrow().mean();
    }
  }

  private static long id(int example) {
    return 3 + example % IDS;
  }

  private static float x(int example) {
    return 1 + example % 4;
  }

  private static ArrayDataset data(NDManager manager, int replica) {
    long[] ids = new long[STEPS];
    float[] xs = new float[STEPS];
    for (int i = 0; i < STEPS; i++) {
      ids[i] = id(replica * STEPS + i);
      xs[i] = x(replica * STEPS + i);
    }
    return new ArrayDataset.Builder()
        .setData(manager.create(ids, new Shape(STEPS, 1)), manager.create(xs, new Shape(STEPS, 1)))
        .optLabels(manager.zeros(new Shape(STEPS, 1))).setSampling(1, false).build();
  }

  private record Trained(float[] rows, float bias, List<RunResult> results) {}

  private static Trained train(JsonObject mode, JsonObject optimizer) {
    AtomicReference<float[]> rows = new AtomicReference<>();
    AtomicReference<Float> bias = new AtomicReference<>();
    JsonObject job = new JsonObject().put("batch_size", 1).put("trainers", TRAINERS).put("threads", THREADS).put("servers", 2)
        .put("optimizer", optimizer)
        .put("sparse_optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", RATE)).mergeIn(mode);
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      List<RunResult> results = shards.run(worker -> {
        try (Model model = Model.newInstance("row-and-bias")) {
          model.setBlock(new RowAndBias());
          DefaultTrainingConfig config = new DefaultTrainingConfig(new Mean()).optOptimizer(worker.optimizer());
          try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
            trainer.initialize(new Shape(1, 1), new Shape(1, 1));
            EasyTrain.fit(trainer, 1, data(trainer.getManager(), worker.shardIndex()), null);
            worker.settle(trainer);
            if (worker.shardIndex() == 0) {
              rows.set(trainer.client().read(false, List.of(new SparseIds("t",
                  LongStream.range(0, IDS).map(i -> 3 + i).toArray()))).join().sparse().get(0).values());
              float[] values = Toy.values(model);
              bias.set(values[values.length - 1]);
            }
          }
        }
      });
      return new Trained(rows.get(), bias.get(), results);
    }
  }

  private static JsonObject downpour(int pushSteps, int pullSteps) {
    return new JsonObject().put("mode", "downpour").put("push_steps", pushSteps).put("pull_steps", pullSteps);
  }

  @ParameterizedTest
  @CsvSource({"1, 1", "3, 1", "1, 3", "3, 2", "2, 5", "100, 1"})
  void every_gradient_of_every_replica_is_applied_once(int pushSteps, int pullSteps) {
    Trained trained = train(downpour(pushSteps, pullSteps),
        new JsonObject().put("kind", "sgd").put("learning_rate", RATE));
    double[] rows = new double[IDS];
    int examples = TRAINERS * THREADS * STEPS;
    for (int example = 0; example < examples; example++) {
      rows[(int) id(example) - 3] -= RATE * x(example);
    }
    for (int i = 0; i < IDS; i++) {
      assertThat((double) trained.rows()[i]).as("row %d", i + 3).isEqualTo(rows[i]);
    }
    assertThat((double) trained.bias()).as("bias").isEqualTo(-RATE * examples);
    for (RunResult result : trained.results()) {
      assertThat(result.steps()).isEqualTo(STEPS);
    }
  }

  /** The schedule counts steps, not pushes: a push has the rate of its last step. */
  @ParameterizedTest
  @CsvSource({"1", "3", "7", "100"})
  void a_push_is_made_at_the_rate_of_its_last_step(int pushSteps) {
    List<Double> rates = new ArrayList<>();
    JsonArray boundaries = new JsonArray();
    JsonArray values = new JsonArray();
    for (int step = 0; step < STEPS; step++) {
      rates.add(RATE * (step + 1));
      values.add(rates.get(step));
      if (step > 0) {
        boundaries.add(step);
      }
    }
    JsonObject schedule = new JsonObject().put("kind", "piecewise").put("boundaries", boundaries).put("values", values);
    JsonObject one = downpour(pushSteps, 2).put("trainers", 1).put("threads", 1);
    double bias = train(one, new JsonObject().put("kind", "sgd").put("schedule", schedule)).bias();
    double expected = 0;
    for (int first = 0; first < STEPS; first += pushSteps) {
      int end = Math.min(STEPS, first + pushSteps);
      expected -= rates.get(end - 1) * (end - first);
    }
    assertThat(bias).isEqualTo(expected);
  }
}
