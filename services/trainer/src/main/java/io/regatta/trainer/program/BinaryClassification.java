package io.regatta.trainer.program;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.trainer.JobConfig;
import io.regatta.trainer.Progress;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.Worker;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.SlotSource;
import io.regatta.trainer.djl.FleetTrainer;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * Trains a block that maps {@code [dense, ids]} to logits with mean log loss, then measures AUC, accuracy and log loss
 * on the test data over all workers. One per replica, on its model thread.
 */
final class BinaryClassification {

  /** Batches between two looks at loss and AUC while training. */
  private static final int SHOWN_BATCHES = 20;
  private static final int SHOWN_BUCKETS = 1 << 12;
  private static final int TEST_BATCH = 1024;

  private final Worker worker;
  private final JobConfig job;
  private final String name;

  BinaryClassification(Worker worker, String name) {
    this.worker = worker;
    this.job = worker.job();
    this.name = name;
  }

  /**
   * The whole run: train, test, report, save.
   *
   * @param train this replica's part of the training data; closed at the end
   * @param testSource all of the test data
   */
  void run(Block block, SlotDataset train, SlotSource<?> testSource) throws Exception {
    DefaultTrainingConfig config = new DefaultTrainingConfig(Loss.sigmoidBinaryCrossEntropyLoss("loss"))
        .optOptimizer(worker.optimizer());
    Layout layout = train.layout();
    try (train;
        SlotDataset test = Loading.test(worker, testSource, TEST_BATCH);
        Model model = Model.newInstance(name)) {
      model.setBlock(block);
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(new Shape(job.batchSize(), layout.dense()), new Shape(job.batchSize(), layout.slots()));
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

  /** Trains; returns the sum of the examples' losses in the last epoch, and their number. */
  private double[] train(FleetTrainer trainer, SlotDataset train) throws Exception {
    Progress progress = worker.progress();
    long examples = train.examples() < 0 ? -1 : train.examples() * job.epochs();
    progress.begin("train", job.maxSteps() > 0 ? Math.min(examples, job.maxSteps() * job.batchSize()) : examples);
    BinaryMetrics seen = new BinaryMetrics(SHOWN_BUCKETS);
    double[] shown = new double[2];
    double[] lastEpoch = new double[2];
    long batches = 0;
    for (int epoch = 0; epoch < job.epochs(); epoch++) {
      double[] thisEpoch = new double[2];
      for (Batch batch : trainer.iterateDataset(train)) {
        try (batch) {
          NDArray loss;
          NDArray logits;
          try (GradientCollector collector = trainer.newGradientCollector()) {
            logits = trainer.forward(batch.getData()).singletonOrThrow();
            loss = trainer.getLoss().evaluate(batch.getLabels(), new NDList(logits));
            collector.backward(loss);
          }
          trainer.step();
          add(seen, logits, batch);
          double lossSum = (double) loss.getFloat() * batch.getSize();
          count(shown, lossSum, batch.getSize());
          count(thisEpoch, lossSum, batch.getSize());
          progress.advance(batch.getSize());
          if (++batches % SHOWN_BATCHES == 0) {
            progress.metric("loss", shown[0] / shown[1]);
            progress.metric("auc", seen.auc());
            Arrays.fill(shown, 0);
            seen.reset();
          }
        }
      }
      lastEpoch = thisEpoch[1] > 0 ? thisEpoch : lastEpoch; // no batches: max_steps was reached earlier
    }
    progress.end();
    return lastEpoch;
  }

  private static void count(double[] sumAndCount, double sum, int examples) {
    sumAndCount[0] += sum;
    sumAndCount[1] += examples;
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

  private static void add(BinaryMetrics metrics, NDArray logits, Batch batch) {
    float[] scores = logits.toFloatArray();
    float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
    for (int i = 0; i < labels.length; i++) {
      metrics.add((float) (1 / (1 + Math.exp(-scores[i]))), labels[i]);
    }
  }
}
