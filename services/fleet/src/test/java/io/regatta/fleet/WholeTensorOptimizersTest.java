package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.TensorwiseOptimizer;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.rank.FleetTrainer;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.save.SavedParameters;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Optimizers that need norms over whole tensors train on a cluster what they train in one process. All trainers have the
 * same batches, so that the mean of their gradients is the gradient of one, to the bit.
 */
class WholeTensorOptimizersTest {

  /** Between parameters, relative to their norm. */
  private static final double SAME = 1e-6;
  private static final int ROWS = 256;
  private static final int INPUTS = 12;

  @TempDir
  Path dir;

  static Stream<String> names() {
    return OptimizerRegistry.names().stream()
        .filter(name -> OptimizerRegistry.named(name).defaults() instanceof TensorwiseOptimizer);
  }

  @ParameterizedTest
  @MethodSource("names")
  void servers_and_ranks_train_what_one_process_trains(String optimizer) {
    SavedParameters start = run(optimizer, "start", new JsonObject().put("max_steps", 1));
    SavedParameters alone = run(optimizer, "alone", new JsonObject());
    assertThat(alone.distance(start)).as("trained").isGreaterThan(0.01);
    JsonObject two = new JsonObject().put("trainers", 2).put("servers", 2).put("shards", 2);
    assertThat(run(optimizer, "servers", two).distance(alone)).as("two trainers, four shards").isLessThanOrEqualTo(SAME);
    assertThat(run(optimizer, "aggregated", two.copy().put("aggregator", true)).distance(alone)).as("through an aggregator")
        .isLessThanOrEqualTo(SAME);
    assertThat(run(optimizer, "collective", new JsonObject().put("trainers", 2).put("mode", "collective")).distance(alone))
        .as("ranks without servers").isLessThanOrEqualTo(SAME);
  }

  private SavedParameters run(String optimizer, String name, JsonObject keys) {
    Path output = dir.resolve(name);
    JobConfig job = JobConfig.of(new JsonObject().put("job", "tensors-" + name).put("min_block", 8).put("epochs", 3).put("batch_size", 16)
        .put("compute_threads", 1).put("output", output.toString())
        .put("optimizer", new JsonObject().put("kind", optimizer).put("learning_rate", optimizer.equals("lars") ? 2 : 0.01)
            .put("weight_decay", 0.01))
        .mergeIn(keys));
    List<RunResult> results = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgram(new Net())
        .withProgress(Progress.none()));
    assertThat(results).allMatch(r -> r.parametersHash().equals(results.get(0).parametersHash()));
    return SavedParameters.read(output);
  }

  /** A small dense net, whose variables are cut over all shards. */
  private static final class Net implements TrainingProgram {

    @Override
    public void run(Worker worker) throws Exception {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(24).build()).add(Activation::tanh)
            .add(Linear.builder().setUnits(8).build()).add(Activation::tanh).add(Linear.builder().setUnits(1).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          trainer.initialize(new Shape(worker.job().batchSize(), INPUTS));
          EasyTrain.fit(trainer, worker.job().epochs(), data(trainer, worker.job().batchSize()), null);
        }
      }
    }

    private static ArrayDataset data(FleetTrainer trainer, int batchSize) {
      Random random = new Random(5);
      float[] x = new float[ROWS * INPUTS];
      float[] y = new float[ROWS];
      for (int row = 0; row < ROWS; row++) {
        for (int k = 0; k < INPUTS; k++) {
          x[row * INPUTS + k] = (float) random.nextGaussian();
          y[row] += (k - 2) * x[row * INPUTS + k] / INPUTS;
        }
      }
      return new ArrayDataset.Builder().setData(trainer.getManager().create(x, new Shape(ROWS, INPUTS)))
          .optLabels(trainer.getManager().create(y, new Shape(ROWS, 1))).setSampling(batchSize, false).build();
    }
  }
}
