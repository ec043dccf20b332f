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
 * The frame of a program that trains a block on one data set and tests it on another: data, model and trainer are opened and
 * closed, and what has been trained is saved. What it trains and measures is the program's. One per replica, on its model thread.
 */
final class DatasetRun {

  /** What lies within. */
  interface Body {
    void run(FleetTrainer trainer, SlotDataset train, SlotDataset test) throws Exception;
  }

  /** The loss of this replica's examples. */
  static final class Losses {
    private double sum;
    private double examples;

    /** @param loss of the batch, the mean of its examples' */
    void add(float loss, Batch batch) {
      sum += (double) loss * batch.getSize();
      examples += batch.getSize();
    }

    /** Whether there are none. */
    boolean isEmpty() {
      return examples == 0;
    }

    /** The mean over all replicas' examples; empty if nobody has any. All call it. */
    OptionalDouble mean(Worker worker) {
      double[] all = worker.allReduce(new double[] {sum, examples}, ReduceOp.SUM);
      return all[1] == 0 ? OptionalDouble.empty() : OptionalDouble.of(all[0] / all[1]);
    }
  }

  private final Worker worker;
  private final JobConfig job;
  private final String name;
  private final int testBatch;

  /**
   * @param name of the model
   * @param testBatch examples of a batch in tests
   */
  DatasetRun(Worker worker, String name, int testBatch) {
    this.worker = worker;
    this.job = worker.job();
    this.name = name;
    this.testBatch = testBatch;
  }

  /**
   * The whole run.
   *
   * @param train this replica's part of the training data; closed at the end
   * @param testSource all of the test data
   */
  void run(Block block, Loss loss, SlotDataset train, SlotSource<?> testSource, Body body) throws Exception {
    DefaultTrainingConfig config = Loading.config(worker, loss);
    try (train;
        SlotDataset test = Loading.test(worker, testSource, testBatch);
        Model model = Model.newInstance(name, worker.device())) {
      model.setBlock(block);
      try (FleetTrainer trainer = worker.distributedTrainer(model, config)) {
        trainer.initialize(SlotArrays.shapes(train.layout(), job.batchSize()));
        body.run(trainer, train, test);
        if (!job.output().isBlank()) {
          worker.save(trainer, Path.of(job.output()));
        }
      }
    }
  }

  /**
   * Sees that something was trained, if the job asks for passes at all. All replicas call it after their last pass.
   *
   * @param began step that this replica's training began at; a resumed run may have all of it behind it
   * @throws InvalidInput if the whole job has trained no example
   */
  void requireExamples(long began, TrainingReport whole) {
    if (job.epochs() == 0) {
      return;
    }
    double[] all = worker.allReduce(new double[] {whole.examples(), began}, ReduceOp.SUM);
    if (all[0] == 0 && all[1] == 0) {
      throw new InvalidInput("job " + job.job() + ": the training data in " + Loading.directory(job) + " hold no example"
          + (job.data().files().isEmpty() ? "" : " (data.files: " + job.data().files() + ")")
          + ", and nothing was trained; see that files and data.format are right" + (job.data().onBadLine() == BadLines.Policy.SKIP
          ? ", and why lines were skipped (data.on_bad_line)" : ""));
    }
  }

  /** Says how long all passes have taken, and how much of that readers were waited for. */
  void timeLines(TrainingReport whole, SlotDataset train) {
    worker.progress().line(whole.timeLine());
    worker.progress().line(whole.readLine(train.waitedSeconds()));
  }

  /**
   * Shows this replica's part of the test data to the block; the caller ends the progress.
   *
   * @param seen gets the outputs, which are closed behind it, and the batch
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
