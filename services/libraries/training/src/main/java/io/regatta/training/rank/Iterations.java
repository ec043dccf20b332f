package io.regatta.training.rank;

import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.data.DataCursor;
import io.regatta.training.replica.StepTimes;
import java.util.Iterator;
import java.util.List;

/**
 * What a trainer's program iterates over: which iteration its batches come out of, whether that one trains, and where reading goes on
 * behind it. Belongs to the model thread.
 */
final class Iterations {

  private final TrainingData data;
  private final ReplicaSteps steps;
  private final StepTimes times;
  /** The last one that has begun; null before. */
  private LookAhead current;
  /** The one that was current in the last step, or in the forward pass of the next. */
  private LookAhead trained;
  /** The last one over training data, from its beginning on. */
  private LookAhead pass;
  /** What that takes its batches from; null before. */
  private DataParts parts;
  /** What the next one is said to train on; null: nothing is said. */
  private Dataset toldToTrain;

  Iterations(TrainingData data, ReplicaSteps steps, StepTimes times) {
    this.data = data;
    this.steps = steps;
    this.times = times;
  }

  /** The next iteration of this data set is for training. */
  void trainsOn(Dataset dataset) {
    data.add(dataset);
    toldToTrain = dataset;
  }

  /**
   * The batches of a data set with a look at the next one, behind what is to be passed over, up to the job's {@code max_steps}. An
   * iteration that begins ends the one before.
   *
   * @param stepWithNothing takes part in the step that the others make while this replica's batch has no example
   */
  Iterable<Batch> over(Dataset dataset, Iterable<Batch> batches, Runnable stepWithNothing) {
    boolean told = toldToTrain == dataset;
    toldToTrain = null;
    return () -> {
      if (current != null) {
        current.close();
      }
      Iterator<Batch> left = batches.iterator();
      long passedOver = data.passOver(dataset, left);
      current = new LookAhead(dataset, left, times, steps::areEnough, () -> data.add(dataset), stepWithNothing);
      if (data.has(dataset)) {
        current.markTrained();
      }
      if (told) {
        current.markSteps();
      }
      if (data.isTraining(dataset)) {
        pass = current;
        parts = data.parts(dataset, batches, passedOver);
      }
      return current;
    };
  }

  /** The last one that has begun; null: none. */
  LookAhead current() {
    return current;
  }

  /** A forward pass of training begins: if there is an iteration it is taken to train, and each of its batches to be a step. */
  void trains() {
    trained = current;
    if (current != null) {
      current.markTrained();
      current.markSteps();
    }
  }

  /** A step is made with nothing of the current iteration. */
  void trainsNothing() {
    trained = current;
  }

  /** The batch after the step's, if it comes out of the iteration that the step trains on; else null. */
  Batch next() {
    return trained == null || trained != current ? null : trained.peek();
  }

  /** Whether the last pass, if there was one, has been read to its end. */
  boolean isBetweenPasses() {
    return pass == null || pass.isExhausted();
  }

  /** Returns what is left of the pass after the batch that is out: empty if that is not known. */
  List<TrainerProgress.Part> parts() {
    return pass == null ? List.of() : parts.after(pass.taken());
  }

  /** Where reading goes on, if all ranks make the same steps; null if it is not known. */
  DataCursor place() {
    return data.after(trained, steps.made());
  }
}
