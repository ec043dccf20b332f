package io.regatta.training.rank;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import io.regatta.training.config.JobConfig;
import io.regatta.training.exchange.push.Rows;
import io.regatta.training.model.DenseParameters;
import io.regatta.training.model.HostCopy;
import io.vertx.core.json.JsonObject;
import java.util.Random;

/** A small regression problem and a dense net for it. */
public final class Toy {

  public static final int INPUTS = 5;

  private Toy() {}

  public static JobConfig job(JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "toy").put("min_block", 16).mergeIn(more, true));
  }

  public static JobConfig job() {
    return job(new JsonObject());
  }

  public static Block net() {
    return new SequentialBlock().add(Linear.builder().setUnits(16).build()).add(Activation::relu)
        .add(Linear.builder().setUnits(8).build()).add(Activation::tanh).add(Linear.builder().setUnits(1).build());
  }

  public static Model model() {
    Model model = Model.newInstance("toy");
    model.setBlock(net());
    return model;
  }

  public static DefaultTrainingConfig config(Optimizer optimizer) {
    return new DefaultTrainingConfig(Loss.l2Loss("loss", 1)).optOptimizer(optimizer);
  }

  public static Shape input(int batch) {
    return new Shape(batch, INPUTS);
  }

  /** Rows {@code first, first + every, ...} of a fixed data set of {@code rows} rows, in order. */
  public static ArrayDataset data(NDManager manager, int rows, int batch, int first, int every) {
    Random random = new Random(5);
    float[][] x = new float[rows][INPUTS];
    float[] y = new float[rows];
    for (int i = 0; i < rows; i++) {
      for (int k = 0; k < INPUTS; k++) {
        x[i][k] = (float) random.nextGaussian();
        y[i] += (k - 2) * x[i][k] + 0.3f * x[i][k] * x[i][0];
      }
    }
    int mine = (rows - first + every - 1) / every;
    float[] xs = new float[mine * INPUTS];
    float[] ys = new float[mine];
    for (int i = 0; i < mine; i++) {
      System.arraycopy(x[first + i * every], 0, xs, i * INPUTS, INPUTS);
      ys[i] = y[first + i * every];
    }
    return new ArrayDataset.Builder().setData(manager.create(xs, new Shape(mine, INPUTS)))
        .optLabels(manager.create(ys, new Shape(mine, 1))).setSampling(batch, false).build();
  }

  /** All trainable values of a model, flat. */
  public static float[] values(Model model) {
    try (DenseParameters dense = new DenseParameters(model.getBlock(), new HostCopy())) {
      return dense.read();
    }
  }

  /** ‖a - b‖₂ / ‖b‖₂. */
  public static double distance(float[] a, float[] b) {
    double difference = 0;
    double norm = 0;
    for (int i = 0; i < a.length; i++) {
      difference += Math.pow((double) a[i] - b[i], 2);
      norm += (double) b[i] * b[i];
    }
    return Math.sqrt(difference / norm);
  }
}
