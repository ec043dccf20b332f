package io.regatta.program;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import ai.djl.util.Pair;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.vertx.core.json.JsonObject;
import java.util.Random;

/**
 * A comparison of a {@link FleetTrainer} with DJL's own trainer and optimizer: a small dense network is trained twice
 * by plain SGD from the same values on the same batches. It reports the distance of the two results. For one trainer
 * with one replica.
 */
public final class StockComparison implements TrainingProgram {

  /** Name of the reported ‖ours - stock‖₂ / ‖stock‖₂. */
  public static final String DISTANCE = "distance_to_stock_djl";

  /** Name of the reported distance between the start and the end of the stock run. */
  public static final String MOVED = "distance_trained";

  private static final int ROWS = 250;
  private static final int INPUTS = 5;
  private static final double RATE = 0.05;

  /** Returns the job: 200 steps on two shards. */
  public static JobConfig job() {
    return JobConfig.of(new JsonObject().put("job", "stock-comparison").put("shards", 2).put("min_block", 16)
        .put("epochs", 20).put("batch_size", 25).put("compute_threads", 1)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", RATE)));
  }

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    try (Model ours = model("ours"); Model stock = model("stock"); Model start = model("start");
        FleetTrainer trainer = worker.distributedTrainer(ours, config(worker.optimizer()));
        Trainer stockTrainer = stock.newTrainer(config(
            Optimizer.sgd().setLearningRateTracker(Tracker.fixed((float) RATE)).build()))) {
      Shape input = new Shape(job.batchSize(), INPUTS);
      trainer.initialize(input);
      stockTrainer.initialize(input);
      start.getBlock().initialize(start.getNDManager(), DataType.FLOAT32, input);
      copy(ours, stock);
      copy(ours, start);
      EasyTrain.fit(trainer, job.epochs(), data(trainer.getManager(), job.batchSize()), null);
      worker.settle(trainer);
      EasyTrain.fit(stockTrainer, job.epochs(), data(stockTrainer.getManager(), job.batchSize()), null);
      worker.report(DISTANCE, distance(ours, stock));
      worker.report(MOVED, distance(start, stock));
    }
  }

  private static Model model(String name) {
    Model model = Model.newInstance(name);
    model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(16).build()).add(Activation::relu)
        .add(Linear.builder().setUnits(8).build()).add(Activation::tanh).add(Linear.builder().setUnits(1).build()));
    return model;
  }

  private static DefaultTrainingConfig config(Optimizer optimizer) {
    return new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(optimizer);
  }

  private static void copy(Model from, Model to) {
    for (Pair<String, Parameter> parameter : from.getBlock().getParameters()) {
      NDArray values = parameter.getValue().getArray();
      to.getBlock().getParameters().get(parameter.getKey()).getArray().set(values.toFloatArray());
    }
  }

  /** Returns a fixed regression problem with products of inputs, in order. */
  private static ArrayDataset data(NDManager manager, int batchSize) {
    Random random = new Random(5);
    float[] x = new float[ROWS * INPUTS];
    float[] y = new float[ROWS];
    for (int row = 0; row < ROWS; row++) {
      for (int k = 0; k < INPUTS; k++) {
        x[row * INPUTS + k] = (float) random.nextGaussian();
        y[row] += (k - 2 + 0.3f * x[row * INPUTS]) * x[row * INPUTS + k];
      }
    }
    return new ArrayDataset.Builder().setData(manager.create(x, new Shape(ROWS, INPUTS)))
        .optLabels(manager.create(y, new Shape(ROWS, 1))).setSampling(batchSize, false).build();
  }

  private static double distance(Model ours, Model stock) {
    double difference = 0;
    double norm = 0;
    for (Pair<String, Parameter> parameter : stock.getBlock().getParameters()) {
      float[] a = ours.getBlock().getParameters().get(parameter.getKey()).getArray().toFloatArray();
      float[] b = parameter.getValue().getArray().toFloatArray();
      for (int i = 0; i < b.length; i++) {
        difference += Math.pow((double) a[i] - b[i], 2);
        norm += (double) b[i] * b[i];
      }
    }
    return Math.sqrt(difference / norm);
  }
}
