package io.regatta.training.rank;

import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.data.DataCursor;
import io.regatta.training.replica.StepTimes;
import java.util.Iterator;
import java.util.List;

/**
 * The iterations of a trainer's program: which one its batches come from, whether it trains, and where reading resumes
 * after it. Belongs to the model thread.
 */
final class Iterations {

  private final TrainingData data;
  private final ReplicaSteps steps;
  private final StepTimes times;
  /** The last iteration that has begun; null before. */
  private LookAhead current;
  /** The iteration of the last step, or of the next step once its forward pass has begun. */
  private LookAhead trained;
  /** The last iteration over training data, from its beginning. */
  private LookAhead pass;
  /** The parts from which that iteration takes its batches; null before. */
  private DataParts parts;
  /** The data set declared for training by the next iteration; null if none was declared. */
  private Dataset declared;

  Iterations(TrainingData data, ReplicaSteps steps, StepTimes times) {
    this.data = data;
    this.steps = steps;
    this.times = times;
  }

  /** Declares that the next iteration of this data set is for training. */
  void trainsOn(Dataset dataset) {
    data.add(dataset);
    declared = dataset;
  }

  /**
   * Returns the batches of a data set with access to the next one, without those to be skipped, up to the job's
   * {@code max_steps}. An iteration that begins ends the one before.
   *
   * @param stepWithoutGradient takes part in the step that the others make while this replica's batch has no example
   */
  Iterable<Batch> over(Dataset dataset, Iterable<Batch> batches, Runnable stepWithoutGradient) {
    boolean isDeclared = declared == dataset;
    declared = null;
    return () -> {
      if (current != null) {
        current.close();
      }
      Iterator<Batch> left = batches.iterator();
      long passedOver = data.skipTrained(dataset, left);
      current = new LookAhead(dataset, left, times, steps::areEnough, () -> data.add(dataset), stepWithoutGradient);
      if (data.has(dataset)) {
        current.markTrained();
      }
      if (isDeclared) {
        current.markSteps();
      }
      if (data.isTraining(dataset)) {
        pass = current;
        parts = data.parts(dataset, batches, passedOver);
      }
      return current;
    };
  }

  /** Returns the last iteration that has begun; null if there is none. */
  LookAhead current() {
    return current;
  }

  /**
   * Begins a forward pass of training: the current iteration, if any, counts as training, and each of its batches as a
   * step.
   */
  void trains() {
    trained = current;
    if (current != null) {
      current.markTrained();
      current.markSteps();
    }
  }

  /** Notes a step without a batch of the current iteration. */
  void trainsWithoutBatch() {
    trained = current;
  }

  /** Returns the batch after the step's, if it comes from the iteration that the step trains on; else null. */
  Batch next() {
    return trained == null || trained != current ? null : trained.peek();
  }

  /** Returns true if the last pass, if there was one, has been read to its end. */
  boolean isBetweenPasses() {
    return pass == null || pass.isExhausted();
  }

  /** Returns what is left of the pass after the current batch; empty if that is not known. */
  List<TrainerProgress.Part> parts() {
    return pass == null ? List.of() : parts.after(pass.taken());
  }

  /** Returns the cursor from which reading resumes, if all ranks make the same steps; null if it is not known. */
  DataCursor place() {
    return data.after(trained, steps.made());
  }
}
