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
 * An iterator over batches of a data set that gives access to the next batch while the current one is trained, so that
 * its rows can be pulled in advance. Belongs to the model thread. A batch that was seen but not taken is closed with
 * the iteration.
 */
final class LookAhead implements Iterator<Batch> {

  private final Dataset dataset;
  private final Iterator<Batch> batches;
  private final StepTimes times;
  private final BooleanSupplier enough;
  private final Runnable stepWithoutGradient;
  private Batch next;
  /** The next batch if it has no example, because all its lines were skipped. */
  private Batch empty;
  /** True if each batch is a step, including an empty one. */
  private boolean steps;
  private Batch current;
  private final Runnable onTrained;
  private boolean trained;
  private boolean exhausted;
  private long taken;

  /**
   * Creates an iterator.
   *
   * @param enough ends the iteration early, once a batch of its data set has been trained
   * @param onTrained called when the first batch is trained
   * @param stepWithoutGradient takes part in the step that the others make while this replica's batch has no example
   */
  LookAhead(Dataset dataset, Iterator<Batch> batches, StepTimes times, BooleanSupplier enough, Runnable onTrained,
      Runnable stepWithoutGradient) {
    this.dataset = dataset;
    this.stepWithoutGradient = stepWithoutGradient;
    this.batches = batches;
    this.times = times;
    this.enough = enough;
    this.onTrained = onTrained;
  }

  /** Returns the data set that is iterated over. */
  Dataset dataset() {
    return dataset;
  }

  /** Notes that the data set of this iteration is trained on, not evaluated. */
  void markTrained() {
    if (!trained) {
      trained = true;
      onTrained.run();
    }
  }

  /**
   * Notes that each batch of this iteration is a step, so that it is no evaluation of data that are trained elsewhere.
   */
  void markSteps() {
    steps = true;
  }

  /** Closes a batch that was seen and not taken. */
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

  /** Returns the next batch; null at the end, or if the next batch has no example. */
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
        stepWithoutGradient.run();
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

  /** Returns the number of batches taken, including those without an example. */
  long taken() {
    return taken;
  }

  /** Returns true if all batches of the data set have been taken, and the end has been reached. */
  boolean isExhausted() {
    return exhausted;
  }

  /** Returns the labels of the current batch, if the argument is its data (or some of it); else null. */
  NDList labels(NDList data) {
    return examples(data) >= 0 ? current.getLabels() : null;
  }

  /** Returns the cursor after the current batch; null if its data set has none. */
  DataCursor after() {
    return current instanceof BatchWithIds batch ? batch.after() : null;
  }

  /** Returns the number of examples of the current batch, if the argument is its data (or some of it); else -1. */
  long examples(NDList data) {
    if (current != null && current.getData().stream().anyMatch(array -> array == data.get(0))) {
      return current.getSize();
    }
    return -1;
  }
}
