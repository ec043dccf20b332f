package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Blocks;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.convolutional.Conv2d;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.nn.pooling.Pool;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Batch;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Training passes as graphs, against the same passes operator by operator. */
class SymbolicForwardTest {

  private static final int BATCH = 16;
  /** The last batch of these rows is a short one. */
  private static final int ROWS = 3 * BATCH + 5;

  private record Trained(List<float[]> steps, List<float[]> outputs, Map<String, float[]> frozen) {}

  /** Convolutions with normalisation, two ways that meet again, and layers of one shape; from rows of 5 values. */
  private static Block net() {
    SequentialBlock through = new SequentialBlock().add(convolution()).add(BatchNorm.builder().build()).add(Activation::relu)
        .add(convolution()).add(BatchNorm.builder().build());
    return new SequentialBlock()
        .add(new LambdaBlock(in -> new NDList(in.head().tile(new long[] {1, 5}).reshape(-1, 1, 5, 5)), "image"))
        .add(convolution())
        .add(new ParallelBlock(out -> new NDList(out.get(0).head().add(out.get(1).head())),
            List.of(through, Blocks.identityBlock())))
        .add(Activation::relu).add(Pool.maxPool2dBlock(new Shape(2, 2), new Shape(2, 2))).add(Blocks.batchFlattenBlock())
        .add(Linear.builder().setUnits(8).build()).add(Activation::tanh).add(Linear.builder().setUnits(1).build());
  }

  private static Conv2d convolution() {
    return Conv2d.builder().setKernelShape(new Shape(3, 3)).optPadding(new Shape(1, 1)).setFilters(4).build();
  }

  private static Trained train(String execution, Block block) {
    List<float[]> steps = new ArrayList<>();
    List<float[]> outputs = new ArrayList<>();
    Map<String, float[]> frozen = new TreeMap<>();
    TrainingProgram program = worker -> {
      try (Model model = Model.newInstance("net")) {
        model.setBlock(block);
        try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(BATCH));
          for (int epoch = 0; epoch < 3; epoch++) {
            for (Batch batch : trainer.iterateDataset(Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1))) {
              try (batch) {
                EasyTrain.trainBatch(trainer, batch);
                trainer.step();
                steps.add(Toy.values(model));
                try (NDArray out = trainer.evaluate(batch.getData()).singletonOrThrow()) {
                  outputs.add(out.toFloatArray());
                }
              }
            }
          }
          frozen.putAll(trainer.frozenValues());
        }
      }
    };
    LocalRun.run(Toy.job(new JsonObject().put("execution", execution).put("batch_size", BATCH).put("engine", "MXNet")
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.01))), program, Progress.none());
    return new Trained(steps, outputs, frozen);
  }

  @ParameterizedTest
  @ValueSource(strings = {"net", "toy"})
  void bitsAreThoseOfOperatorByOperator(String name) {
    Trained imperative = train("imperative", name.equals("net") ? net() : Toy.net());
    Trained symbolic = train("symbolic", name.equals("net") ? net() : Toy.net());
    assertThat(symbolic.steps).hasSize(12).hasSameSizeAs(imperative.steps);
    for (int step = 0; step < 12; step++) {
      assertThat(symbolic.steps.get(step)).as("after step %d", step).containsExactly(imperative.steps.get(step));
      assertThat(symbolic.outputs.get(step)).as("evaluated after step %d", step).containsExactly(imperative.outputs.get(step));
    }
    assertThat(symbolic.steps.get(11)).isNotEqualTo(symbolic.steps.get(10));
    imperative.frozen.forEach((mean, values) -> assertThat(symbolic.frozen.get(mean)).as(mean).containsExactly(values));
    assertThat(symbolic.frozen).hasSize(name.equals("net") ? 4 : 0);
  }

  /** In this case gradients that are not fresh count as unused. */
  @Test
  void ranksThatSumTheirGradientsToo() {
    List<String> hashes = new ArrayList<>();
    for (String execution : List.of("imperative", "symbolic")) {
      JsonObject job = new JsonObject().put("execution", execution).put("engine", "MXNet").put("mode", "collective")
          .put("trainers", 2).put("batch_size", BATCH)
          .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.01));
      try (SharedShards ranks = new SharedShards(Toy.job(job))) {
        hashes.add(ranks.run(worker -> {
          try (Model model = Model.newInstance("net")) {
            model.setBlock(net());
            try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
              trainer.initialize(Toy.input(BATCH));
              EasyTrain.fit(trainer, 2, Toy.data(trainer.getManager(), ROWS, BATCH, worker.rank(), 2), null);
            }
          }
        }).get(0).parametersHash());
      }
    }
    assertThat(hashes.get(1)).isNotEmpty().isEqualTo(hashes.get(0));
  }

  @Test
  void anArrayFromElsewhereIsRefused() {
    Block noisy = new SequentialBlock().add(Linear.builder().setUnits(1).build())
        .add(new LambdaBlock(in -> new NDList(in.head().add(in.head().getManager().ones(in.head().getShape()))), "offset"));
    assertThatThrownBy(() -> train("symbolic", noisy)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("neither its input nor a parameter").hasMessageContaining("execution: imperative");
  }
}
