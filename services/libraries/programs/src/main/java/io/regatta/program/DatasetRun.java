package io.regatta.program;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.nn.Block;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.SlotSource;
import io.regatta.program.block.BlockLoss;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.rank.FleetTrainer;
import java.nio.file.Path;
import java.util.OptionalDouble;
import java.util.function.BiConsumer;

/**
 * The common frame of programs that train a block on one data set and test it on another. It opens and closes data,
 * model and trainer, and saves the result; the program trains and measures. One per replica, on its model thread.
 */
final class DatasetRun {

  /** The part of a run that the program provides. */
  interface Body {
    void run(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception;
  }

  /** The loss over this replica's examples. */
  static final class Losses {
    private double sum;
    private double examples;

    /** @param loss of the batch, the mean over its examples */
    void add(float loss, Batch batch) {
      sum += (double) loss * batch.getSize();
      examples += batch.getSize();
    }

    /** Returns true if there are no examples. */
    boolean isEmpty() {
      return examples == 0;
    }

    /** Returns the mean over all replicas' examples; empty if there are none. All replicas must call it. */
    OptionalDouble mean(Worker worker) {
      double[] all = worker.allReduce(new double[] {sum, examples}, ReduceOp.SUM);
      return all[1] == 0 ? OptionalDouble.empty() : OptionalDouble.of(all[0] / all[1]);
    }
  }

  private final Worker worker;
  private final JobConfig job;
  private final String name;
  private final int testBatch;
  /** True if the result is a model that the body has saved. */
  private boolean kept;

  /**
   * Creates a frame.
   *
   * @param name of the model
   * @param testBatch examples of a test batch
   */
  DatasetRun(Worker worker, String name, int testBatch) {
    this.worker = worker;
    this.job = worker.job();
    this.name = name;
    this.testBatch = testBatch;
  }

  /**
   * Runs the whole program.
   *
   * @param train this replica's partition of the training data; closed at the end
   * @param testSource all of the test data
   */
  void run(Block block, Loss loss, SlotDataset train, SlotSource<?> testSource, Body body) throws Exception {
    DefaultTrainingConfig config = Loading.config(worker, block instanceof BlockLoss own ? own.over(loss) : loss);
    try (train;
        SlotDataset test = Loading.test(worker, testSource, testBatch);
        Model model = Model.newInstance(name, worker.device())) {
      model.setBlock(block);
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(SlotArrays.shapes(train.layout(), job.batchSize()));
        body.run(trainer, train, test);
        if (!job.output().isBlank() && !kept) {
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  /**
   * Checks that the job has trained something, if it has any epochs. All replicas call it after their last pass.
   *
   * @param began step at which this replica's training began; a resumed run may have nothing left to train
   * @throws InvalidInput if the whole job has trained no example
   */
  void requireExamples(long began, TrainingReport whole) {
    if (job.epochs() == 0) {
      return;
    }
    double[] all = worker.allReduce(new double[] {whole.examples(), began}, ReduceOp.SUM);
    if (all[0] == 0 && all[1] == 0) {
      throw new InvalidInput("job " + job.job() + ": the training data in " + Loading.dataDirectory(job) + " contain no examples"
          + (job.data().files().isEmpty() ? "" : " (data.files: " + job.data().files() + ")")
          + ", so nothing was trained; check the files and data.format" + (job.data().onBadLine() == BadLines.Policy.SKIP
          ? ", and why lines were skipped (data.on_bad_line)" : ""));
    }
  }

  /** Prints how long all passes have taken, and how much of that was waiting for readers. */
  void timeLines(TrainingReport whole, SlotDataset train) {
    worker.progress().line(whole.timeLine());
    worker.progress().line(whole.readLine(train.waitedSeconds()));
  }

  /** Declares that the body has saved the model that is the result of the run. */
  void keeps() {
    kept = true;
  }

  /**
   * Evaluates the block on this replica's partition of data while it is trained, within a pass, too, and without
   * progress.
   *
   * @param seen gets the outputs, which are closed afterwards, and the batch
   */
  static void evaluate(FleetTrainer trainer, SlotDataset data, BiConsumer<NDArray, Batch> seen) {
    for (Batch batch : data.getData(trainer.getManager())) { // an iteration of the trainer would end that of the pass
      try (batch; NDList outputs = trainer.evaluate(batch.getData())) {
        seen.accept(outputs.singletonOrThrow(), batch);
      }
    }
  }

  /**
   * Evaluates the block on this replica's partition of the test data; the caller ends the progress.
   *
   * @param seen gets the outputs, which are closed afterwards, and the batch
   */
  void test(FleetTrainer trainer, SlotDataset test, BiConsumer<NDArray, Batch> seen) throws Exception {
    Loading.begin(worker, "test", test);
    for (Batch batch : trainer.iterateDataset(test)) {
      try (batch; NDList outputs = trainer.evaluate(batch.getData())) {
        seen.accept(outputs.singletonOrThrow(), batch);
        worker.progress().advance(batch.getSize());
      }
    }
  }
}
