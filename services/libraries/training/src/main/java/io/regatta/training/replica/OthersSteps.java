package io.regatta.training.replica;

/** A rank's participation, outside of its own steps, in those of the others. Belongs to the rank's model thread. */
public interface OthersSteps {

  /** No participation: the others do not wait for this rank. */
  OthersSteps NONE = () -> { };

  /** Takes part until no rank makes steps any more. */
  void join();

  /**
   * Takes part in one step, if the others make one; in an elastic job.
   *
   * @param emptyBatch true if this rank's next batch has turned out to have no example that can be trained
   */
  default void joinOne(boolean emptyBatch) {
    throw new UnsupportedOperationException("steps are joined one by one in elastic jobs only");
  }
}
