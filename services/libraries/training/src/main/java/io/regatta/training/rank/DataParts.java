package io.regatta.training.rank;

import io.regatta.core.exchange.TrainerProgress.Part;
import java.util.List;

/** The parts of a pass from which an iteration over training data takes its batches. Belongs to the model thread. */
interface DataParts {

  /**
   * Returns what is left after the given number of batches has been taken; empty if that is not known.
   *
   * @param batches at most as many as have been requested from the iteration
   */
  List<Part> after(long batches);
}
