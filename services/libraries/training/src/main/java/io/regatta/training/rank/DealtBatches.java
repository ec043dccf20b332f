package io.regatta.training.rank;

import ai.djl.ndarray.NDManager;
import ai.djl.training.dataset.Batch;
import io.regatta.core.data.Spans;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.session.ElasticPasses;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.BooleanSupplier;

/**
 * An iterator over the batches of one pass that are assigned to a rank of an elastic job. When the rank has none left,
 * it takes part in the others' steps until the pass is over, or until it is assigned more because a rank was lost.
 * Belongs to the model thread.
 */
final class DealtBatches implements Iterator<Batch> {

  private final ElasticPasses passes;
  private final SlotDataset data;
  private final int pass;
  private final NDManager manager;
  private final BooleanSupplier enough;
  private final Runnable join;
  private final Runnable joinForAnEmptyBatch;
  private Iterator<Batch> batches;
  private long assignment = -1;
  private Batch next;
  /** The batch that was taken last: it stays this rank's next batch until a step has been made with it. */
  private Spans lastTaken = Spans.NONE;

  /**
   * Creates an iterator; reads nothing yet.
   *
   * @param enough returns true if the run is over
   * @param join takes part in one step of the others
   * @param joinForAnEmptyBatch takes part in one step, if the next batch has no example
   */
  DealtBatches(ElasticPasses passes, SlotDataset data, int pass, NDManager manager, BooleanSupplier enough, Runnable join,
      Runnable joinForAnEmptyBatch) {
    this.passes = passes;
    this.data = data;
    this.pass = pass;
    this.manager = manager;
    this.enough = enough;
    this.join = join;
    this.joinForAnEmptyBatch = joinForAnEmptyBatch;
  }

  @Override
  public boolean hasNext() {
    while (next == null && passes.isUnderWay() && !enough.getAsBoolean()) {
      if (passes.next().isEmpty()) {
        join.run();
      } else {
        next = read();
        if (next == null) {
          joinForAnEmptyBatch.run();
        }
      }
    }
    if (next == null) {
      data.close();
    }
    return next != null;
  }

  /** Reads one batch per step: batches taken ahead could be assigned to others before they are trained. */
  private Batch read() {
    if (assignment == passes.dealings() && passes.next().equals(lastTaken)) {
      throw new InvalidInput("an elastic job's program requests a batch before it has made a step with the last one, but batches that "
          + "it holds may be assigned to others in that step; call trainer.step() for each batch before the iterator's hasNext() or next()");
    }
    if (assignment != passes.dealings()) { // batches read ahead may belong to another rank now
      assignment = passes.dealings();
      batches = data.dealt(manager, pass, passes.upcoming());
    }
    if (!batches.hasNext()) {
      throw new InvalidInput("the training data end before their " + data.allExamples() + " examples; the files have changed while "
          + "they were read: start the job again");
    }
    return batches.next();
  }

  @Override
  public Batch next() {
    if (!hasNext()) {
      throw new NoSuchElementException("the pass is over");
    }
    Batch taken = next;
    next = null;
    lastTaken = passes.next();
    return taken;
  }
}
