package io.regatta.training.rank;

import io.regatta.core.exchange.TrainerProgress.Part;
import java.util.List;

/** Parts of a pass that an iteration over training data takes its batches from. Belongs to the model thread. */
interface DataParts {

  /**
   * Returns what is left once so many batches have come out of the iteration; empty if that is not known.
   *
   * @param batches at most as many as the iteration has been asked for
   */
  List<Part> after(long batches);
}
