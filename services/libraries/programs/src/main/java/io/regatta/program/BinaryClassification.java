package io.regatta.program;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.dataset.Batch;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.metrics.LastBatches;
import io.regatta.core.metrics.SlotCoverage;
import io.regatta.data.Layout;
import io.regatta.data.SlotSource;
import io.regatta.program.DatasetRun.Losses;
import io.regatta.program.label.OutputHead;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.BatchWithIds;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.evaluation.Evaluation;
import io.regatta.training.evaluation.Predictions;
import io.regatta.training.evaluation.Ranks;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.MetricNames;
import java.util.Map;

/**
 * The training and test of a block that maps a data set's arrays to the outputs of an {@link OutputHead}. It measures
 * the metrics of an {@link Evaluation} on the test data over all workers. One per replica, on its model thread.
 */
final class BinaryClassification {

  /** Batches between two outputs of loss and AUC while training, and batches of {@code batch_auc}. */
  private static final int SHOWN_BATCHES = 20;
  private static final int SHOWN_BUCKETS = 1 << 12;
  private static final int TEST_BATCH = 1024;

  private final Worker worker;
  private final JobConfig job;
  private final DatasetRun frame;
  private final OutputHead head;
  private final Evaluation evaluation;

  /** @param evaluation of this replica's predictions on the test data */
  BinaryClassification(Worker worker, String name, OutputHead head, Evaluation evaluation) {
    this.worker = worker;
    this.job = worker.job();
    this.frame = new DatasetRun(worker, name, TEST_BATCH);
    this.head = head;
    this.evaluation = evaluation;
  }

  /**
   * Runs the whole program: train, test, report, save.
   *
   * @param train this replica's partition of the training data; closed at the end
   * @param testSource all of the test data
   */
  void run(Block block, SlotDataset train, SlotSource<?> testSource) throws Exception {
    frame.run(block, head.loss("loss"), train, testSource, this::trainAndTest);
  }

  private void trainAndTest(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception {
    Pass last = train(trainer, train, train.layout());
    worker.report("loss", last.losses.mean(worker).orElse(Double.NaN));
    if (head.isBinary()) {
      worker.report("train_auc", worker.global(last.metrics).auc());
      worker.report("batch_auc", worker.global(last.lastBatches.together()).auc());
    }
    coverage(last.coverage);
    worker.settle(trainer); // the test uses what all have learned, in every mode
    test(trainer, test).report(worker::report);
  }

  /** Trains; returns the metrics of the last pass. */
  private Pass train(FleetTrainer trainer, SlotDataset train, Layout layout) {
    Loading.beginTraining(worker, trainer, train);
    long began = trainer.steps();
    TrainingReport whole = TrainingReport.none();
    Pass last = new Pass(layout);
    for (int epoch = 0; epoch < job.epochs(); epoch++) {
      Pass pass = new Pass(layout);
      whole = whole.plus(worker.trainFromDataset(trainer, train, pass, SHOWN_BATCHES, false));
      last = pass.losses.isEmpty() ? last : pass; // no batches: max_steps was reached earlier
    }
    worker.progress().end();
    frame.requireExamples(began, whole);
    frame.timeLines(whole, train);
    return last;
  }

  /**
   * Reports the coverage of slots over all replicas: for each slot in which some examples of the last pass have no
   * value, the share that has one.
   */
  private void coverage(SlotCoverage mine) {
    mine.take(worker.allReduce(mine.sums(), ReduceOp.SUM));
    for (int slot = 0; slot < mine.slots(); slot++) {
      if (mine.of(slot) < 1) {
        worker.report(MetricNames.COVERAGE + slot, mine.of(slot));
      }
    }
  }

  /** The metrics of this replica in one pass of training: its loss and AUC so far, and the AUC of the last batches. */
  private final class Pass implements FetchHandler {
    private final BinaryMetrics metrics = new BinaryMetrics(SHOWN_BUCKETS);
    private final LastBatches lastBatches = new LastBatches(SHOWN_BATCHES, SHOWN_BUCKETS);
    private final SlotCoverage coverage;
    private final Losses losses = new Losses();

    Pass(Layout layout) {
      coverage = new SlotCoverage(layout.widths(), layout.emptyIds());
    }

    @Override
    public void trained(Batch batch, NDList predictions, float batchLoss) {
      if (head.isBinary()) {
        BinaryMetrics own = lastBatches.next();
        add(own, predictions.singletonOrThrow(), batch);
        metrics.merge(own);
      }
      if (batch instanceof BatchWithIds known) {
        coverage.add(known.positions(), known.ids());
      }
      losses.add(batchLoss, batch);
    }

    @Override
    public void fetched(long step, Map<String, Double> values) {
      if (head.isBinary()) {
        worker.progress().metric("batch_auc", lastBatches.together().auc());
        worker.progress().metric("auc", metrics.auc());
      } else {
        worker.progress().metric("loss", values.get("loss"));
      }
    }
  }

  /**
   * Returns the metrics over the whole test data: every replica evaluates its partition, and all get the same result.
   */
  private Evaluation test(FleetTrainer trainer, SlotDataset test) throws Exception {
    frame.test(trainer, test, (outputs, batch) ->
        evaluation.add(Predictions.of(head.scores(outputs), batch, test.layout())));
    evaluation.merge(new Ranks(worker.shardIndex(), worker.shardCount(), worker::global,
        values -> worker.allReduce(values, ReduceOp.SUM)));
    evaluation.show(worker.progress());
    worker.progress().end();
    return evaluation;
  }

  private void add(BinaryMetrics metrics, NDArray outputs, Batch batch) {
    float[] scores = head.scores(outputs);
    float[] labels = batch.getLabels().singletonOrThrow().toFloatArray();
    int examples = Math.toIntExact(batch.getSize());
    for (int i = 0; i < examples; i++) {
      float label = labels[i * (labels.length / examples)];
      if (!Float.isNaN(label)) {
        metrics.add(scores[i * (scores.length / examples)], label);
      }
    }
  }
}
