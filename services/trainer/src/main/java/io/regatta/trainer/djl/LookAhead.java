package io.regatta.trainer.djl;

import ai.djl.ndarray.NDList;
import ai.djl.training.dataset.Batch;
import io.regatta.trainer.data.BatchWithIds;
import io.regatta.trainer.data.DataCursor;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;

/**
 * Batches of a data set, of which the next one can be looked at while the current one is being trained, to ask for its
 * rows ahead of time. Belongs to the model thread. A batch that was looked at and never taken is closed with the
 * iteration.
 */
final class LookAhead implements Iterator<Batch> {

  private final Iterator<Batch> batches;
  private final StepTimes times;
  private final BooleanSupplier enough;
  private Batch next;
  private Batch current;
  private final Runnable onTrained;
  private boolean trained;
  private boolean exhausted;

  /**
   * @param enough ends the iteration early, once a batch of its data set has been trained
   * @param onTrained called when the first batch is trained
   */
  LookAhead(Iterator<Batch> batches, StepTimes times, BooleanSupplier enough, Runnable onTrained) {
    this.batches = batches;
    this.times = times;
    this.enough = enough;
    this.onTrained = onTrained;
  }

  /** The data set of this iteration is being trained on, not evaluated. */
  void markTrained() {
    if (!trained) {
      trained = true;
      onTrained.run();
    }
  }

  /** Gives back a batch that was looked at and not taken. */
  void close() {
    if (next != null) {
      next.close();
      next = null;
    }
  }

  /** The next batch, or null at the end. */
  Batch peek() {
    if (next == null && !(trained && enough.getAsBoolean())) {
      long begin = System.nanoTime();
      if (batches.hasNext()) {
        next = batches.next();
      } else {
        exhausted = true;
      }
      times.add(StepTimes.Part.READ, System.nanoTime() - begin);
      times.span("read: wait for the reader, make arrays", begin);
    }
    return next;
  }

  @Override
  public boolean hasNext() {
    return !(trained && enough.getAsBoolean()) && peek() != null;
  }

  @Override
  public Batch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("no more batches");
    }
    current = next;
    next = null;
    return current;
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
