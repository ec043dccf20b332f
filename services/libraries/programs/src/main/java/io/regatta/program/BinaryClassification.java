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
import io.regatta.training.validation.Measured;
import io.regatta.training.validation.OverfitWarning;
import io.regatta.training.validation.Validation;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

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
  /** Creates an evaluation of no predictions. */
  private final Supplier<Evaluation> evaluations;
  /** All of the validation data; null if there are none. */
  private final SlotSource<?> validationSource;
  /** The evaluations during training; null if there are no validation data, or before training. */
  private Validation validation;

  /** Creates the training of a block without validation data. */
  BinaryClassification(Worker worker, String name, OutputHead head, Supplier<Evaluation> evaluations) {
    this(worker, name, head, evaluations, null);
  }

  /**
   * Creates the training of a block.
   *
   * @param evaluations creates an evaluation of no predictions
   * @param validationSource all of the validation data; null: there are none
   */
  BinaryClassification(Worker worker, String name, OutputHead head, Supplier<Evaluation> evaluations,
      SlotSource<?> validationSource) {
    this.worker = worker;
    this.job = worker.job();
    this.frame = new DatasetRun(worker, name, TEST_BATCH);
    this.head = head;
    this.evaluations = evaluations;
    this.validationSource = validationSource;
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
    if (validationSource == null) {
      trainThenTest(trainer, train, test);
      return;
    }
    try (SlotDataset rows = Loading.test(worker, validationSource, TEST_BATCH)) {
      validation = new Validation(worker, trainer, new Validation.Rows() {
        @Override
        public Measured validation() {
          return measure(trainer, rows);
        }

        @Override
        public Measured test() {
          return measure(trainer, test);
        }
      });
      trainThenTest(trainer, train, test);
    }
  }

  private void trainThenTest(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception {
    Pass last = train(trainer, train, train.layout());
    worker.report("loss", last.losses.mean(worker).orElse(Double.NaN));
    if (head.isBinary()) {
      worker.report("train_auc", worker.global(last.metrics).auc());
      worker.report("batch_auc", worker.global(last.lastBatches.together()).auc());
    }
    coverage(last.coverage);
    if (validation != null && validation.hasBest()) { // tested when it was the newest
      frame.keeps();
      return;
    }
    worker.settle(trainer); // the test uses what all have learned, in every mode
    Measured tested = test(trainer, test);
    tested.metrics().forEach(worker::report);
    if (head.isBinary()) {
      new OverfitWarning(worker).compare("after its last pass", Map.of("auc", worker.global(last.metrics).auc()), "test", tested);
    }
  }

  /** Trains; returns the metrics of the last pass. */
  private Pass train(FleetTrainer trainer, SlotDataset train, Layout layout) {
    Loading.beginTraining(worker, trainer, train);
    long began = trainer.steps();
    TrainingReport whole = TrainingReport.none();
    Pass last = new Pass(layout, 1);
    if (validation != null) {
      trainer.trainsOn(train); // otherwise the validation data would count as the training data
      validation.begin(1);
    }
    for (int epoch = 0; epoch < job.epochs() && (validation == null || !validation.isOver()); epoch++) {
      Pass pass = new Pass(layout, epoch + 1);
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
    private final int epoch;

    /** @param epoch from 1 */
    Pass(Layout layout, int epoch) {
      this.epoch = epoch;
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
      if (validation != null) {
        validation.stepped(epoch, this::soFar);
      }
    }

    @Override
    public boolean isEnough() {
      return validation != null && validation.isOver();
    }

    @Override
    public void passed() {
      if (validation != null) {
        validation.passed(epoch, this::soFar);
      }
    }

    /** Returns the metrics so far over all replicas, which all call it. */
    private Map<String, Double> soFar() {
      Map<String, Double> values = new LinkedHashMap<>();
      values.put("loss", losses.mean(worker).orElse(Double.NaN));
      if (head.isBinary()) {
        values.put("auc", worker.global(metrics).auc());
      }
      return values;
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
  private Measured test(FleetTrainer trainer, SlotDataset test) throws Exception {
    Evaluation evaluation = evaluations.get();
    double[] classes = new double[2];
    frame.test(trainer, test, (outputs, batch) -> add(evaluation, classes, outputs, batch, test.layout()));
    Measured all = merged(evaluation, classes);
    evaluation.show(worker.progress());
    worker.progress().end();
    return all;
  }

  /** Returns the metrics over all of some data while the block is trained, without progress. */
  private Measured measure(FleetTrainer trainer, SlotDataset data) {
    Evaluation evaluation = evaluations.get();
    double[] classes = new double[2];
    DatasetRun.evaluate(trainer, data, (outputs, batch) -> add(evaluation, classes, outputs, batch, data.layout()));
    return merged(evaluation, classes);
  }

  /** @param classes counts of negative and of positive examples */
  private void add(Evaluation evaluation, double[] classes, NDArray outputs, Batch batch, Layout layout) {
    Predictions predictions = Predictions.of(head.scores(outputs), batch, layout);
    evaluation.add(predictions);
    for (int i = 0; i < predictions.size(); i++) {
      float label = predictions.labels()[i * layout.labels()];
      if (!Float.isNaN(label)) {
        classes[label > 0 ? 1 : 0]++;
      }
    }
  }

  private Measured merged(Evaluation evaluation, double[] classes) {
    evaluation.merge(new Ranks(worker.shardIndex(), worker.shardCount(), worker::global,
        values -> worker.allReduce(values, ReduceOp.SUM)));
    double[] all = worker.allReduce(classes, ReduceOp.SUM);
    Map<String, Double> metrics = new LinkedHashMap<>();
    evaluation.report(metrics::put);
    return head.isBinary() ? new Measured(metrics, all[1], all[0]) : new Measured(metrics, Double.NaN, Double.NaN);
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
