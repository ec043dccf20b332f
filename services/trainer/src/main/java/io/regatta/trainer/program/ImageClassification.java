package io.regatta.trainer.program;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.metrics.TopAccuracy;
import io.regatta.trainer.FetchHandler;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.TrainingReport;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.SlotArrays;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.SlotSource;
import io.regatta.trainer.djl.FleetTrainer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/**
 * Trains a block from pixels to a score for each class by softmax cross entropy, and after each pass measures top-1 and
 * top-5 accuracy on the test images over all workers. Prints lines as PaddlePaddle's quick start does. Reports {@code loss}
 * (training, of the last pass), {@code accuracy} (top-1) and {@code top5}. One per replica, on its model thread.
 */
final class ImageClassification {

  private static final int TEST_BATCH = 64;

  private final Worker worker;
  private final JobConfig job;
  private final String name;
  private final int shownBatches;

  /** @param shownBatches batches between two lines */
  ImageClassification(Worker worker, String name, int shownBatches) {
    this.worker = worker;
    this.job = worker.job();
    this.name = name;
    this.shownBatches = shownBatches;
  }

  /**
   * The whole run: train, test, report, save.
   *
   * @param train this replica's part of the training images; closed at the end
   * @param testImages all of the test images
   */
  void run(Block block, SlotDataset train, SlotSource<?> testImages) throws Exception {
    DefaultTrainingConfig config = Loading.config(worker, Loss.softmaxCrossEntropyLoss("loss"));
    try (train;
        SlotDataset test = Loading.test(worker, testImages, TEST_BATCH);
        Model model = Model.newInstance(name, worker.device())) {
      model.setBlock(block);
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(SlotArrays.shapes(train.layout(), job.batchSize()));
        passes(trainer, train, test);
        if (!job.output().isBlank()) {
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  private void passes(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception {
    TrainingReport whole = TrainingReport.none();
    for (int epoch = 0; epoch < job.epochs(); epoch++) {
      Loading.beginPass(worker, trainer, train, epoch);
      Pass pass = new Pass(epoch);
      whole = whole.plus(worker.trainFromDataset(trainer, train, pass, shownBatches, false));
      worker.progress().end();
      double[] loss = worker.allReduce(new double[] {pass.loss, pass.examples}, ReduceOp.SUM);
      if (loss[1] == 0) { // behind a run that goes on, or behind max_steps
        continue;
      }
      worker.settle(trainer); // the test sees what all have learned, in every mode
      TopAccuracy all = test(trainer, test);
      worker.progress().line(String.format(Locale.ROOT, "pass %d: loss %.5f, test acc1 %.5f, acc5 %.5f", epoch,
          loss[0] / loss[1], all.top1(), all.top5()));
      worker.report("loss", loss[0] / loss[1]);
      worker.report("accuracy", all.top1());
      worker.report("top5", all.top5());
    }
    worker.progress().line(whole.timeLine());
    worker.progress().line(String.format(Locale.ROOT, "waited for readers: %.2f s of %.1f s", train.waitedSeconds(),
        whole.seconds()));
  }

  /** What this replica sees in one pass of training; its lines are of the last batch, as in the quick start. */
  private final class Pass implements FetchHandler {
    private final int epoch;
    private TopAccuracy batch = new TopAccuracy();
    private double loss;
    private double examples;
    private int batches;

    Pass(int epoch) {
      this.epoch = epoch;
    }

    @Override
    public void trained(Batch trained, NDList predictions, float batchLoss) {
      batch = new TopAccuracy();
      add(batch, predictions.singletonOrThrow(), trained);
      loss += (double) batchLoss * trained.getSize();
      examples += trained.getSize();
      batches++;
    }

    @Override
    public void fetched(long step, Map<String, Double> values) {
      worker.progress().metric("acc1", batch.top1());
      worker.progress().line(String.format(Locale.ROOT, "[Epoch %d, batch %d] loss: %.5f, acc1: %.5f, acc5: %.5f", epoch,
          batches - 1, values.get("batch_loss"), batch.top1(), batch.top5()));
    }
  }

  /** Over all test images: every replica takes its part, everybody gets the same. */
  private TopAccuracy test(FleetTrainer trainer, SlotDataset test) throws Exception {
    worker.progress().begin("test", test.examples());
    TopAccuracy mine = new TopAccuracy();
    for (Batch batch : trainer.iterateDataset(test)) {
      try (batch) {
        NDList scores = trainer.evaluate(batch.getData());
        add(mine, scores.singletonOrThrow(), batch);
        scores.close();
        worker.progress().advance(batch.getSize());
      }
    }
    TopAccuracy all = TopAccuracy.ofSums(worker.allReduce(mine.sums(), ReduceOp.SUM));
    worker.progress().metric("acc1", all.top1());
    worker.progress().end();
    return all;
  }

  private static void add(TopAccuracy to, NDArray scores, Batch batch) {
    to.add(scores.toFloatArray(), batch.getLabels().singletonOrThrow().toFloatArray());
  }
}
