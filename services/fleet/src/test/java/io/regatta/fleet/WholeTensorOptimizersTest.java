package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.regatta.training.save.SavedParameters;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Optimizers that need norms over whole tensors train on a cluster what they train in one process. All trainers have the
 * same batches, so that the mean of their gradients is the gradient of one, to the bit.
 */
@ExtendWith(BlockedLoopGuard.class)
class WholeTensorOptimizersTest {

  /** Between parameters, relative to their norm. */
  private static final double SAME = 1e-6;
  private static final int ROWS = 256;
  private static final int INPUTS = 12;

  @TempDir
  Path dir;

  static Stream<String> names() {
    return OptimizerRegistry.names().stream().filter(name -> OptimizerSpec.of(name, 1).needsWholeTensors());
  }

  @ParameterizedTest
  @MethodSource("names")
  void when_trained_in_several_processes_then_as_in_one(String optimizer) {
    SavedParameters start = trained(optimizer, "start", new JsonObject().put("max_steps", 1));
    SavedParameters alone = trained(optimizer, "alone", new JsonObject());
    assertThat(alone.distance(start)).as("trained").isGreaterThan(0.01);
    for (int trainers = 1; trainers <= 3; trainers++) {
      for (int servers = 1; servers <= 3; servers++) {
        JsonObject sync = new JsonObject().put("trainers", trainers).put("servers", servers);
        assertThat(trained(optimizer, "sync-" + trainers + "-" + servers, sync).distance(alone))
            .as("%d trainers, %d servers", trainers, servers).isLessThanOrEqualTo(SAME);
      }
    }
    JsonObject two = new JsonObject().put("trainers", 2).put("servers", 2).put("shards", 2).put("aggregator", true);
    assertThat(trained(optimizer, "aggregated", two).distance(alone)).as("through an aggregator").isLessThanOrEqualTo(SAME);
    for (String mode : List.of("half_async", "async", "ssp")) {
      JsonObject one = new JsonObject().put("mode", mode).put("servers", 3);
      assertThat(trained(optimizer, mode, one).distance(alone)).as(mode).isLessThanOrEqualTo(SAME);
    }
    JsonObject ranks = new JsonObject().put("trainers", 2).put("mode", "collective");
    assertThat(trained(optimizer, "collective", ranks).distance(alone)).as("ranks without servers").isLessThanOrEqualTo(SAME);
  }

  @ParameterizedTest
  @MethodSource("names")
  void when_resumed_then_slots_and_values_continue(String optimizer) {
    Path snapshots = dir.resolve("snapshots");
    JsonObject two = new JsonObject().put("trainers", 2).put("servers", 2)
        .put("snapshots", new JsonObject().put("dir", snapshots.toString()).put("every_steps", 10).put("keep", 100));
    RunResult unbroken = run(optimizer, "unbroken", two);
    String from = snapshots.resolve("step-000000010").toString();
    JsonObject resumed = new JsonObject().put("resume", from);
    assertThat(run(optimizer, "same", resumed.copy().put("trainers", 2).put("servers", 2)).parametersHash())
        .as("same shards").isEqualTo(unbroken.parametersHash());
    assertThat(run(optimizer, "other", resumed.copy().put("trainers", 2).put("servers", 3)).parametersHash())
        .as("other shards").isEqualTo(unbroken.parametersHash());
  }

  /** The snapshot's variables are cut over shards, those of the new optimizer are not. */
  @ParameterizedTest
  @MethodSource("names")
  void when_begun_from_another_optimizers_snapshot_then_values_are_taken(String optimizer) {
    Path snapshots = dir.resolve("snapshots");
    run("adam", "adam", new JsonObject().put("servers", 2).put("shards", 2)
        .put("snapshots", new JsonObject().put("dir", snapshots.toString()).put("every_steps", 10).put("keep", 100)));
    JsonObject from = new JsonObject().put("init_from", snapshots.resolve("step-000000010").toString());
    SavedParameters alone = trained(optimizer, "alone", from);
    assertThat(trained(optimizer, "servers", from.copy().put("servers", 2).put("shards", 2)).distance(alone))
        .isLessThanOrEqualTo(SAME);
  }

  @ParameterizedTest
  @MethodSource("names")
  void when_differences_are_pushed_then_refused(String optimizer) {
    assertThatThrownBy(() -> run(optimizer, "geo", new JsonObject().put("mode", "geo").put("k_steps", 2)))
        .hasMessageContaining("geo").hasMessageContaining("sgd");
  }

  private SavedParameters trained(String optimizer, String name, JsonObject keys) {
    run(optimizer, name, keys);
    return SavedParameters.read(dir.resolve(name));
  }

  private RunResult run(String optimizer, String name, JsonObject keys) {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "tensors").put("min_block", 8).put("epochs", 2).put("batch_size", 16)
        .put("compute_threads", 1).put("output", dir.resolve(name).toString())
        .put("optimizer", new JsonObject().put("kind", optimizer).put("learning_rate", optimizer.equals("lars") ? 2 : 0.01)
            .put("weight_decay", 0.01))
        .mergeIn(keys));
    List<RunResult> results = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgram(new Net())
        .withProgress(Progress.none()));
    assertThat(results).allMatch(r -> r.parametersHash().equals(results.get(0).parametersHash()));
    return results.get(0);
  }

  /** A small dense net, whose variables other optimizers cut over all shards. */
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
