package io.regatta.training.rank;

import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.data.DataCursor;
import io.regatta.training.dataset.BatchWithIds;
import io.regatta.training.replica.StepTimes;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;

/**
 * Batches of a data set, of which the next one can be looked at while the current one is being trained, to ask for its
 * rows ahead of time. Belongs to the model thread. A batch that was looked at and never taken is closed with the
 * iteration.
 */
final class LookAhead implements Iterator<Batch> {

  private final Dataset dataset;
  private final Iterator<Batch> batches;
  private final StepTimes times;
  private final BooleanSupplier enough;
  private final Runnable stepWithNothing;
  private Batch next;
  /** Is next, and has no example: all its lines were left out. */
  private Batch empty;
  /** Whether each batch is a step, an empty one as well. */
  private boolean steps;
  private Batch current;
  private final Runnable onTrained;
  private boolean trained;
  private boolean exhausted;
  private long taken;

  /**
   * @param enough ends the iteration early, once a batch of its data set has been trained
   * @param onTrained called when the first batch is trained
   * @param stepWithNothing takes part in the step that the others make while this replica's batch has no example
   */
  LookAhead(Dataset dataset, Iterator<Batch> batches, StepTimes times, BooleanSupplier enough, Runnable onTrained,
      Runnable stepWithNothing) {
    this.dataset = dataset;
    this.stepWithNothing = stepWithNothing;
    this.batches = batches;
    this.times = times;
    this.enough = enough;
    this.onTrained = onTrained;
  }

  /** What is iterated over. */
  Dataset dataset() {
    return dataset;
  }

  /** The data set of this iteration is being trained on, not evaluated. */
  void markTrained() {
    if (!trained) {
      trained = true;
      onTrained.run();
    }
  }

  /** Each batch of this iteration is a step: it is not an evaluation of what is trained on elsewhere. */
  void markSteps() {
    steps = true;
  }

  /** Gives back a batch that was looked at and not taken. */
  void close() {
    if (next != null) {
      next.close();
      next = null;
    }
    if (empty != null) {
      empty.close();
      empty = null;
    }
  }

  /** The next batch, or null at the end, or before one of no example. */
  Batch peek() {
    if (next == null && empty == null && !(trained && enough.getAsBoolean())) {
      long begin = times.clock().nanos();
      if (batches.hasNext()) {
        Batch read = batches.next();
        if (read instanceof BatchWithIds && read.getSize() == 0) {
          empty = read;
        } else {
          next = read;
        }
      } else {
        exhausted = true;
      }
      times.add(StepTimes.Part.READ, times.clock().nanos() - begin);
      times.span("read: wait for the reader, make arrays", begin);
    }
    return next;
  }

  @Override
  public boolean hasNext() {
    while (!(trained && enough.getAsBoolean())) {
      if (peek() != null) {
        return true;
      }
      if (empty == null) {
        return false;
      }
      current = empty;
      empty = null;
      taken++;
      if (steps) {
        stepWithNothing.run();
      }
      current.close();
    }
    return false;
  }

  @Override
  public Batch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    current = next;
    next = null;
    taken++;
    return current;
  }

  /** Returns the number of batches that have been taken out, those without an example as well. */
  long taken() {
    return taken;
  }

  /** Whether all batches of the data set have been taken, and the end has been seen. */
  boolean isExhausted() {
    return exhausted;
  }

  /** Labels of the batch that is out, if this is its data (or a part of it); else null. */
  NDList labels(NDList data) {
    return examples(data) >= 0 ? current.getLabels() : null;
  }

  /** Where reading goes on behind the batch that is out; null if its data set does not say. */
  DataCursor after() {
    return current instanceof BatchWithIds batch ? batch.after() : null;
  }

  /** Number of examples of the batch that is out, if this is its data (or a part of it); else -1. */
  long examples(NDList data) {
    if (current != null && current.getData().stream().anyMatch(array -> array == data.get(0))) {
      return current.getSize();
    }
    return -1;
  }
}
