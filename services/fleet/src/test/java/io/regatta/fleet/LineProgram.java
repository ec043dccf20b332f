package io.regatta.fleet;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.loss.Loss;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.rank.FleetTrainer;
import java.util.function.DoubleSupplier;

/** Fits y = slope · x on 256 points in order: one dense weight and one bias, no sparse table, nothing saved. */
public final class LineProgram implements TrainingProgram {

  private static final int POINTS = 256;

  private final DoubleSupplier slope;

  public LineProgram() {
    this(() -> 2);
  }

  LineProgram(DoubleSupplier slope) {
    this.slope = slope;
  }

  @Override
  public void run(Worker worker) throws Exception {
    try (Model model = Model.newInstance("line")) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (FleetTrainer trainer = worker.distributedTrainer(model,
          config(worker))) {
        train(worker, trainer);
      }
    }
  }

  static TrainingConfig config(Worker worker) {
    return new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer())
        .addTrainingListeners(TrainingListener.Defaults.basic());
  }

  /** On the calling thread, which must be the worker's. */
  void train(Worker worker, FleetTrainer trainer) throws Exception {
    trainer.initialize(new Shape(1, 1));
    EasyTrain.fit(trainer, worker.job().epochs(), worker.shard(points(trainer.getManager(), worker)), null);
    worker.report("loss", trainer.getTrainingResult().getTrainLoss());
  }

  private ArrayDataset points(NDManager manager, Worker worker) {
    return points(manager, worker.job().batchSize(), slope.getAsDouble());
  }

  static ArrayDataset points(NDManager manager, int batchSize) {
    return points(manager, batchSize, 2);
  }

  private static ArrayDataset points(NDManager manager, int batchSize, double wanted) {
    float[] x = new float[POINTS];
    float[] y = new float[POINTS];
    for (int i = 0; i < POINTS; i++) {
      x[i] = (i * 37 % POINTS) / (float) POINTS;
      y[i] = (float) (wanted * x[i]);
    }
    return new ArrayDataset.Builder().setData(manager.create(x, new Shape(POINTS, 1)))
        .optLabels(manager.create(y, new Shape(POINTS, 1))).setSampling(batchSize, false).build();
  }
}
