package io.regatta.trainer.program;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.metrics.RegressionMetrics;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.TrainingReport;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.uci.Housing;
import io.regatta.trainer.djl.FleetTrainer;
import java.nio.file.Path;

/**
 * Linear regression on the UCI housing data, PaddlePaddle's first distributed quick start: 13 features to one value,
 * mean squared error, and a line {@code Epoch: 0, Batch: 9, loss: 560.1} every ten batches from the first worker.
 * Reports {@code loss} (training mean squared error at the end) and {@code test_mse}. Runs on a model thread.
 */
public final class FitALine implements TrainingProgram {

  private static final int PRINT_BATCHES = 10;

  /** The {@code settings} section of the job: nothing, so that whatever is given there is refused. */
  public record FitALineSettings() {}

  @Override
  public Class<? extends Record> settings() {
    return FitALineSettings.class;
  }

  @Override
  public void check(JobConfig job) {
    Loading.refuseFormats(job, "fit-a-line");
    Loading.refuseShares(job, "fit-a-line");
    Loading.present(job, "housing.data", "the UCI repository had it as 'Housing', and https://lib.stat.cmu.edu/datasets/"
        + "boston has the same rows, each on two lines to be joined, after a description to be left out", file(job));
  }

  private static Path file(JobConfig job) {
    return Loading.file(Loading.directory(job), job.data().files(), "housing.data");
  }

  @Override
  public void run(Worker worker) throws Exception {
    JobConfig job = worker.job();
    BadLines badLines = Loading.badLinesOfAll(worker);
    Housing housing = Housing.read(file(job), badLines);
    DefaultTrainingConfig config = Loading.config(worker, Loss.l2Loss("loss", 1));
    try (SlotDataset train = Loading.training(worker, housing.train());
        SlotDataset trainInOrder = Loading.test(worker, housing.train(), 64);
        SlotDataset test = Loading.test(worker, housing.test(), 64);
        Model model = Model.newInstance("fit-a-line", worker.device())) {
      model.setBlock(Linear.builder().setUnits(1).build());
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(new Shape(job.batchSize(), housing.train().layout().dense()));
        train(worker, trainer, train);
        worker.settle(trainer); // the test sees what all have learned, in every mode
        worker.report("loss", meanSquaredError(worker, trainer, trainInOrder));
        worker.report("test_mse", meanSquaredError(worker, trainer, test));
        worker.report("bad_lines", badLines.skipped());
        if (!job.output().isBlank()) {
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  private static void train(Worker worker, FleetTrainer trainer, SlotDataset train) {
    Loading.beginTraining(worker, trainer, train);
    TrainingReport whole = TrainingReport.none();
    for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
      String place = "Epoch: " + epoch + ", Batch: ";
      long before = trainer.steps();
      whole = whole.plus(worker.trainFromDataset(trainer, train, (step, values) -> worker.progress()
          .line(place + (step - before - 1) + ", loss: " + values.get("batch_loss").floatValue()), PRINT_BATCHES, false));
    }
    worker.progress().end();
    worker.progress().line(whole.timeLine());
  }

  private static double meanSquaredError(Worker worker, FleetTrainer trainer, SlotDataset part) throws Exception {
    RegressionMetrics metrics = new RegressionMetrics();
    for (Batch batch : trainer.iterateDataset(part)) {
      try (batch) {
        NDList predicted = trainer.evaluate(batch.getData());
        float[] predictions = predicted.singletonOrThrow().toFloatArray();
        float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
        for (int i = 0; i < labels.length; i++) {
          metrics.add(predictions[i], labels[i]);
        }
      }
    }
    return RegressionMetrics.ofSums(worker.allReduce(metrics.sums(), ReduceOp.SUM)).mse();
  }
}
