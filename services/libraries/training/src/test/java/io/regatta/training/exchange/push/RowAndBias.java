package io.regatta.training.exchange.push;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.util.PairList;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.init.InitializerSpec;
import io.regatta.training.dataset.EmptyBatch;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.result.RunResult;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.IntUnaryOperator;

/**
 * The age of the values on which async mode trains with one trainer, whose requests the shard takes in order. With
 * {@code overlap} they contain all pushes but the last one. Without it, dense values contain all pushes, and rows all
 * but the last. The test compares with this recursion, computed directly.
 */
public final class RowAndBias extends AbstractBlock {

  private static final float RATE = 0.05f;
  private static final int STEPS = 12;

  private final DistributedEmbedding row;
  private final Linear bias;

  RowAndBias() {
    row = addChildBlock("row", DistributedEmbedding.builder().setTable("t").setDim(1)
        .optInitializer(InitializerSpec.zeros()).optInputIndex(0).build());
    bias = addChildBlock("bias", Linear.builder().setUnits(1).build());
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray rows = row.forward(store, new NDList(inputs.get(0)), training).singletonOrThrow().reshape(-1, 1);
    NDArray zeros = inputs.get(1).zerosLike();
    return new NDList(rows.mul(inputs.get(1))
        .add(bias.forward(store, new NDList(zeros), training).singletonOrThrow()));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType type, Shape... shapes) {
    row.initialize(manager, type, shapes[0]);
    bias.initialize(manager, type, shapes[1]);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {inputShapes[1]};
  }

  private static float x(int step) {
    return 1 + step % 3;
  }

  /**
   * Returns row and bias after all steps of SGD on (row · x + bias - 1)².
   *
   * @param rowSeen number of pushes that are in the row on which a step computes; below 0 none
   * @param biasSeen the same for the bias
   */
  public static double[] byHand(IntUnaryOperator rowSeen, IntUnaryOperator biasSeen) {
    return byHand(rowSeen, biasSeen, STEPS);
  }

  /**
   * The same with a step without an example.
   *
   * @param empty its number; {@code STEPS} if there is none
   */
  static double[] byHand(IntUnaryOperator rowSeen, IntUnaryOperator biasSeen, int empty) {
    int steps = empty < STEPS ? STEPS + 1 : STEPS;
    double[] row = new double[steps + 1];
    double[] bias = new double[steps + 1];
    for (int step = 0; step < steps; step++) {
      if (step == empty) {
        row[step + 1] = row[step];
        bias[step + 1] = bias[step];
        continue;
      }
      int example = step < empty ? step : step - 1;
      double rowThen = row[Math.max(0, rowSeen.applyAsInt(step))];
      double biasThen = bias[Math.max(0, biasSeen.applyAsInt(step))];
      double error = rowThen * x(example) + biasThen - 1;
      row[step + 1] = row[step] - RATE * 2 * error * x(example);
      bias[step + 1] = bias[step] - RATE * 2 * error;
    }
    return new double[] {row[steps], bias[steps]};
  }

  /** Returns row and bias after a job with these keys and one trainer. */
  public static double[] train(JsonObject keys) {
    return train(keys, STEPS);
  }

  /** The same with a step whose batch has no example; {@code STEPS}: none. */
  static double[] train(JsonObject keys, int empty) {
    JsonObject job = keys.copy().put("batch_size", 1)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", RATE));
    double[] trained = new double[2];
    try (SharedShards shards = new SharedShards(Toy.job(job))) {
      List<RunResult> results = shards.run(worker -> {
        try (Model model = Model.newInstance("row-and-bias")) {
          model.setBlock(new RowAndBias());
          try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
            trainer.initialize(new Shape(1, 1), new Shape(1, 1));
            ArrayDataset data = data(trainer.getManager());
            EasyTrain.fit(trainer, 1, empty < STEPS ? EmptyBatch.within(data, empty) : data, null);
            worker.settle(trainer);
            trained[0] = trainer.client().read(false, List.of(new SparseIds("t", new long[] {7})))
                .join().sparse().get(0).values()[0];
            float[] values = Toy.values(model);
            trained[1] = values[values.length - 1];
          }
        }
      });
      assertThat(results.get(0).stalenessMax()).as("of others' updates, of which there are none").isZero();
      assertThat(results.get(0).steps()).isEqualTo(empty < STEPS ? STEPS + 1 : STEPS);
    }
    return trained;
  }

  private static ArrayDataset data(NDManager manager) {
    long[] ids = new long[STEPS];
    float[] xs = new float[STEPS];
    float[] ys = new float[STEPS];
    for (int i = 0; i < STEPS; i++) {
      ids[i] = 7;
      xs[i] = x(i);
      ys[i] = 1;
    }
    return new ArrayDataset.Builder()
        .setData(manager.create(ids, new Shape(STEPS, 1)), manager.create(xs, new Shape(STEPS, 1)))
        .optLabels(manager.create(ys, new Shape(STEPS, 1))).setSampling(1, false).build();
  }
}
