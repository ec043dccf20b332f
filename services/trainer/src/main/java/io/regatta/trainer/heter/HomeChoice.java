package io.regatta.trainer.heter;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The choice of the heter worker that computes a rank's batches, its home. All ranks choose by the same rules from the
 * loads that workers report, so that the numbers of trainers become equal. Stateless.
 */
final class HomeChoice {

  private static final Comparator<HeterWorker> LEAST_FIRST =
      Comparator.comparingInt(HeterWorker::trainers).thenComparing(HeterWorker::index);

  private HomeChoice() {}

  /**
   * Returns the home at the start: the worker of index rank modulo workers.
   *
   * @param ready workers by index, at least one
   */
  static HeterWorker first(List<HeterWorker> ready, int rank) {
    return ready.get(rank % ready.size());
  }

  /** Returns the home after the loss of the last one, whose ranks spread over the others; empty if there are none. */
  static Optional<HeterWorker> afterLoss(List<HeterWorker> left, int rank) {
    return left.isEmpty() ? Optional.empty()
        : Optional.of(left.stream().sorted(LEAST_FIRST).toList().get(rank / (left.size() + 1) % left.size()));
  }

  /**
   * Returns the worker with the fewest trainers, if a move there makes the numbers more equal. Only one rank of each
   * worker may move at a time: the highest.
   */
  static Optional<HeterWorker> better(HeterWorker home, List<HeterWorker> ready, int rank) {
    return home.load.getHighestRank() != rank ? Optional.empty()
        : ready.stream().min(LEAST_FIRST).filter(least -> home.trainers() >= least.trainers() + 2);
  }
}
