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
 * The batches of one pass that a rank of an elastic job is dealt. When it has none left it takes part in the others' steps until
 * the pass is over, or there is more for it, because somebody was lost. Belongs to the model thread.
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
  private long dealing = -1;
  private Batch next;
  /** What was given out last is this rank's next batch until a step has been made with it. */
  private Spans given = Spans.NONE;

  /**
   * Reads nothing yet.
   *
   * @param enough whether the run is over
   * @param join takes part in one step of the others
   * @param joinForAnEmptyBatch the same, where the next batch has no example
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

  /** One batch for each step: those taken ahead could be dealt to others before they are trained. */
  private Batch read() {
    if (dealing == passes.dealings() && passes.next().equals(given)) {
      throw new InvalidInput("an elastic job's program asks for a batch before it has made a step with the one before, and batches that "
          + "it holds may be dealt to others in that step; call trainer.step() for each batch before the iterator's hasNext() or next()");
    }
    if (dealing != passes.dealings()) { // what was read ahead may be another rank's now
      dealing = passes.dealings();
      batches = data.dealt(manager, pass, passes.upcoming());
    }
    if (!batches.hasNext()) {
      throw new InvalidInput("the training data have ended before their " + data.allExamples() + " examples; they have changed while "
          + "they were read");
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
    given = passes.next();
    return taken;
  }
}
