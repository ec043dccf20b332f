package org.example;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.loss.Loss;
import io.regatta.fleet.Fleet;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import java.util.Random;

/** A linear model of made-up house prices; the same program alone, simulated and on a cluster. */
public final class HousePrices implements TrainingProgram {

  private static final int FEATURES = 3;
  private static final int HOUSES = 640;

  public static void main(String[] args) {
    System.exit(Fleet.run(args, new HousePrices()));
  }

  @Override
  public void run(Worker worker) throws Exception {
    try (Model model = Model.newInstance("house-prices")) {
      model.setBlock(Linear.builder().setUnits(1).build());
      TrainingConfig config = new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer())
          .addTrainingListeners(TrainingListener.Defaults.basic());
      try (Trainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(new Shape(1, FEATURES));
        Dataset houses = houses(trainer.getManager(), worker.job().batchSize());
        EasyTrain.fit(trainer, worker.job().epochs(), worker.shard(houses), null);
        worker.report("loss", trainer.getTrainingResult().getTrainLoss());
      }
    }
  }

  /** Price = 2 + 3 · area - 1.5 · distance + 0.5 · age, and a little noise. */
  private static Dataset houses(NDManager manager, int batchSize) {
    Random random = new Random(1);
    float[] features = new float[HOUSES * FEATURES];
    float[] prices = new float[HOUSES];
    for (int house = 0; house < HOUSES; house++) {
      double price = 2 + 0.01 * random.nextGaussian();
      for (int feature = 0; feature < FEATURES; feature++) {
        float value = (float) random.nextGaussian();
        features[house * FEATURES + feature] = value;
        price += new double[] {3, -1.5, 0.5}[feature] * value;
      }
      prices[house] = (float) price;
    }
    NDArray data = manager.create(features, new Shape(HOUSES, FEATURES));
    NDArray labels = manager.create(prices, new Shape(HOUSES, 1));
    return new ArrayDataset.Builder().setData(data).optLabels(labels).setSampling(batchSize, false).build();
  }
}
