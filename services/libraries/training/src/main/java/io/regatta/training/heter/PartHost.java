package io.regatta.training.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutSignature;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The source of a heter worker's batches, for the model thread that computes them. Any thread may use it.
 */
public interface PartHost {

  /**
   * Batches to be computed as one, from the same values.
   *
   * @param batches in the order of their arrival, at least one
   * @param done takes a result for each, in the same order; throws a {@link RegattaException} if it refuses them
   * @param refused takes the reason why they cannot be computed
   * @param alone returns a work for each batch, in place of this one, so that a batch that is refused fails alone
   */
  record PartWork(List<BatchToCompute> batches, Consumer<List<ComputedBatch>> done, Consumer<RegattaException> refused,
      Supplier<List<PartWork>> alone) {

    /** Creates a work of one batch. */
    public PartWork(List<BatchToCompute> batch, Consumer<List<ComputedBatch>> done, Consumer<RegattaException> refused) {
      this(batch, done, refused, List::of);
    }
  }

  /** Completes when a trainer has opened a stream. */
  CompletionStage<Void> wanted();

  /**
   * Notes that the part is built; {@link #next} is called from now on.
   *
   * @param own what crosses the cut, as this process has it: without labels, which it does not know yet
   * @param gatherable true if several batches may be computed as one
   */
  void ready(CutSignature own, boolean gatherable);

  /** Returns the next work; empty once the job has ended. */
  CompletionStage<Optional<PartWork>> next();
}
