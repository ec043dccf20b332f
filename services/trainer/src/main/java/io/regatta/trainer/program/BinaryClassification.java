package io.regatta.trainer.program;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.trainer.FetchHandler;
import io.regatta.trainer.Progress;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.TrainingReport;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.SlotSource;
import io.regatta.trainer.djl.FleetTrainer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Trains a block that maps a data set's arrays to the outputs that a {@link BinaryHead} takes, then measures AUC,
 * accuracy and log loss on the test data over all workers. One per replica, on its model thread.
 */
final class BinaryClassification {

  /** Batches between two looks at loss and AUC while training. */
  private static final int SHOWN_BATCHES = 20;
  private static final int SHOWN_BUCKETS = 1 << 12;
  private static final int TEST_BATCH = 1024;

  private final Worker worker;
  private final JobConfig job;
  private final String name;
  private final BinaryHead head;

  BinaryClassification(Worker worker, String name, BinaryHead head) {
    this.worker = worker;
    this.job = worker.job();
    this.name = name;
    this.head = head;
  }

  /**
   * The whole run: train, test, report, save.
   *
   * @param train this replica's part of the training data; closed at the end
   * @param testSource all of the test data
   */
  void run(Block block, SlotDataset train, SlotSource<?> testSource) throws Exception {
    DefaultTrainingConfig config = new DefaultTrainingConfig(head.loss("loss"))
        .optOptimizer(worker.optimizer());
    Layout layout = train.layout();
    try (train;
        SlotDataset test = Loading.test(worker, testSource, TEST_BATCH);
        Model model = Model.newInstance(name)) {
      model.setBlock(block);
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(shapes(layout));
        double[] lossAndCount = worker.allReduce(train(trainer, train), ReduceOp.SUM);
        worker.report("loss", lossAndCount[0] / lossAndCount[1]);
        worker.settle(trainer); // the test sees what all have learned, in every mode
        BinaryMetrics metrics = test(trainer, test);
        worker.report("auc", metrics.auc());
        worker.report("accuracy", metrics.accuracy());
        worker.report("logloss", metrics.logloss());
        if (!job.output().isBlank()) {
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  /** Of the arrays of a batch, see {@link SlotDataset}. */
  private Shape[] shapes(Layout layout) {
    List<Shape> shapes = new ArrayList<>();
    if (layout.dense() > 0) {
      shapes.add(new Shape(job.batchSize(), layout.dense()));
    }
    if (layout.slots() > 0) {
      shapes.add(new Shape(job.batchSize(), layout.columns()));
    }
    if (layout.valued()) {
      shapes.add(new Shape(job.batchSize(), layout.columns()));
    }
    return shapes.toArray(Shape[]::new);
  }

  /** Trains; returns the sum of the examples' losses in the last epoch, and their number. */
  private double[] train(FleetTrainer trainer, SlotDataset train) {
    Loading.beginTraining(worker, train);
    TrainingReport whole = TrainingReport.none();
    Shown shown = new Shown();
    double[] lastEpoch = new double[2];
    for (int epoch = 0; epoch < job.epochs(); epoch++) {
      shown.epoch = new double[2];
      whole = whole.plus(worker.trainFromDataset(trainer, train, shown, SHOWN_BATCHES, false));
      lastEpoch = shown.epoch[1] > 0 ? shown.epoch : lastEpoch; // no batches: max_steps was reached earlier
    }
    worker.progress().end();
    worker.progress().line(whole.timeLine());
    return lastEpoch;
  }

  /** What is seen while training: the AUC of the last batches, and the epoch's loss and examples. */
  private final class Shown implements FetchHandler {
    private final BinaryMetrics seen = new BinaryMetrics(SHOWN_BUCKETS);
    private double[] epoch;

    @Override
    public void trained(Batch batch, NDList predictions, float loss) {
      add(seen, predictions.singletonOrThrow(), batch);
      epoch[0] += (double) loss * batch.getSize();
      epoch[1] += batch.getSize();
    }

    @Override
    public void fetched(long step, Map<String, Double> values) {
      worker.progress().metric("auc", seen.auc());
      seen.reset();
    }
  }

  /** Metrics over the whole test data: every replica takes its part, everybody gets the same. */
  private BinaryMetrics test(FleetTrainer trainer, SlotDataset test) throws Exception {
    Progress progress = worker.progress();
    progress.begin("test", test.examples());
    BinaryMetrics mine = new BinaryMetrics(BinaryMetrics.BUCKETS);
    for (Batch batch : trainer.iterateDataset(test)) {
      try (batch) {
        add(mine, trainer.evaluate(batch.getData()).singletonOrThrow(), batch);
        progress.advance(batch.getSize());
      }
    }
    BinaryMetrics all = worker.global(mine);
    progress.metric("auc", all.auc());
    progress.metric("accuracy", all.accuracy());
    progress.metric("logloss", all.logloss());
    progress.end();
    return all;
  }

  private void add(BinaryMetrics metrics, NDArray outputs, Batch batch) {
    float[] probabilities = head.probabilities(outputs);
    float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
    for (int i = 0; i < labels.length; i++) {
      metrics.add(probabilities[i], labels[i]);
    }
  }
}
