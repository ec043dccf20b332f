package io.regatta.training.session;

import java.util.concurrent.CompletableFuture;

/**
 * The ranks of a collective job as one of them sees the others. The group of an elastic job has one generation after
 * another: all calls are of the current one, each fails with {@code PeerLost} when that is over, whatever ended it, and
 * so do all later ones until {@link #reform}. A group of a fixed number of ranks has one generation, and its calls fail
 * for good when a rank is lost; the defaults are those of such a group. Any other failure than {@code PeerLost} means
 * that this rank cannot continue. Called on one model thread.
 */
public interface RankGroup extends PeerRanks {

  /** This rank, in the current generation. */
  int rank();

  /** How many ranks there are, in the current generation. */
  int worldSize();

  /** Returns true if those who are left form another generation when one is over. */
  default boolean isElastic() {
    return false;
  }

  /** The current generation's number. */
  default long generation() {
    return 0;
  }

  /** Returns true if somebody is known to wait for the next generation. A rank may know it before the others do. */
  default boolean newcomers() {
    return false;
  }

  /** Gives all ranks what the root has, in place. */
  CompletableFuture<Void> broadcast(long[] values, int root);

  /**
   * Ends this generation, for all ranks, and waits for the next one, which forms when all who live have called this and
   * there are enough of them. Calls under way fail before. Fails with {@code PeerLost} if somebody is lost on the way:
   * it is to be called again then.
   *
   * @param inVain whether this rank has completed nothing in this generation, or the generation was never formed
   */
  default CompletableFuture<Void> reform(boolean inVain) {
    return CompletableFuture.failedFuture(
        new IllegalStateException("a group of a fixed number of ranks has no next generation"));
  }

  /** Completes after so many milliseconds, or sooner if this rank gives its seat up. */
  default CompletableFuture<Void> pause(long millis) {
    return CompletableFuture.completedFuture(null);
  }
}
