package io.regatta.training.replica;

/**
 * The part that a rank takes, outside of steps of its own, in those of the others. Belongs to the rank's model thread.
 */
public interface OthersSteps {

  /** No part: the others do not wait for this rank. */
  OthersSteps NONE = () -> { };

  /** Takes part until nobody makes any. */
  void join();

  /**
   * Takes part in one step, if the others make one; in an elastic job.
   *
   * @param emptyBatch whether this rank's next batch has turned out to have no example that can be trained
   */
  default void joinOne(boolean emptyBatch) {
    throw new UnsupportedOperationException("steps are joined one by one in elastic jobs only");
  }
}
