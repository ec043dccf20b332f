package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.metrics.TopAccuracy;
import io.regatta.data.SlotSource;
import io.regatta.program.DatasetRun.Losses;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/**
 * The training of a block from pixels to a score per class by softmax cross entropy, with a test after each pass. The
 * test measures top-1 and top-5 accuracy on the test images over all workers. It prints lines as PaddlePaddle's quick
 * start does, and reports {@code loss} (training, of the last pass), {@code accuracy} (top-1) and {@code top5}. One per
 * replica, on its model thread.
 */
final class ImageClassification {

  private static final int TEST_BATCH = 64;

  private final Worker worker;
  private final JobConfig job;
  private final DatasetRun frame;
  private final int shownBatches;

  /** @param shownBatches batches between two lines */
  ImageClassification(Worker worker, String name, int shownBatches) {
    this.worker = worker;
    this.job = worker.job();
    this.frame = new DatasetRun(worker, name, TEST_BATCH);
    this.shownBatches = shownBatches;
  }

  /**
   * Runs the whole program: train, test, report, save.
   *
   * @param train this replica's partition of the training images; closed at the end
   * @param testImages all of the test images
   */
  void run(Block block, SlotDataset train, SlotSource<?> testImages) throws Exception {
    frame.run(block, Loss.softmaxCrossEntropyLoss("loss"), train, testImages, this::passes);
  }

  private void passes(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception {
    long began = trainer.steps();
    TrainingReport whole = TrainingReport.none();
    for (int epoch = 0; epoch < job.epochs(); epoch++) {
      Loading.beginPass(worker, trainer, train, epoch);
      Pass pass = new Pass(epoch);
      whole = whole.plus(worker.trainFromDataset(trainer, train, pass, shownBatches, false));
      worker.progress().end();
      OptionalDouble loss = pass.losses.mean(worker);
      if (loss.isEmpty()) { // already trained by a resumed run, or after max_steps
        continue;
      }
      worker.settle(trainer); // the test uses what all have learned, in every mode
      TopAccuracy all = test(trainer, test);
      worker.progress().line(String.format(Locale.ROOT, "pass %d: loss %.5f, test acc1 %.5f, acc5 %.5f", epoch,
          loss.getAsDouble(), all.top1(), all.top5()));
      worker.report("loss", loss.getAsDouble());
      worker.report("accuracy", all.top1());
      worker.report("top5", all.top5());
    }
    frame.requireExamples(began, whole);
    frame.timeLines(whole, train);
  }

  /** The metrics of this replica in one pass of training; its lines show the last batch, as in the quick start. */
  private final class Pass implements FetchHandler {
    private final int epoch;
    private TopAccuracy batch = new TopAccuracy();
    private final Losses losses = new Losses();
    private int batches;

    Pass(int epoch) {
      this.epoch = epoch;
    }

    @Override
    public void trained(Batch trained, NDList predictions, float batchLoss) {
      batch = new TopAccuracy();
      add(batch, predictions.singletonOrThrow(), trained);
      losses.add(batchLoss, trained);
      batches++;
    }

    @Override
    public void fetched(long step, Map<String, Double> values) {
      worker.progress().metric("acc1", batch.top1());
      worker.progress().line(String.format(Locale.ROOT, "[Epoch %d, batch %d] loss: %.5f, acc1: %.5f, acc5: %.5f", epoch,
          batches - 1, values.get("batch_loss"), batch.top1(), batch.top5()));
    }
  }

  /** Returns the accuracy over all test images: every replica evaluates its partition, and all get the same result. */
  private TopAccuracy test(FleetTrainer trainer, SlotDataset test) throws Exception {
    TopAccuracy mine = new TopAccuracy();
    frame.test(trainer, test, (scores, batch) -> add(mine, scores, batch));
    TopAccuracy all = TopAccuracy.ofSums(worker.allReduce(mine.sums(), ReduceOp.SUM));
    worker.progress().metric("acc1", all.top1());
    worker.progress().end();
    return all;
  }

  private static void add(TopAccuracy to, NDArray scores, Batch batch) {
    to.add(scores.toFloatArray(), batch.getLabels().singletonOrThrow().toFloatArray());
  }
}
