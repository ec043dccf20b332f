package io.regatta.training.session;

import java.util.concurrent.CompletableFuture;

/**
 * The ranks of a collective job, with their generations, from the point of view of one of them. The group of an elastic
 * job has one generation after another. All calls belong to the current one; each fails with {@code PeerLost} when it
 * is over, for any reason, and so do later ones until {@link #reform}.
 *
 * <p>A group of a fixed number of ranks has one generation, and its calls fail permanently when a rank is lost; the
 * defaults are those of such a group. Any other failure than {@code PeerLost} means that this rank cannot continue.
 * Called on one model thread.
 */
public interface RankGroup extends PeerRanks {

  /** Returns this rank, in the current generation. */
  int rank();

  /** Returns the number of ranks, in the current generation. */
  int worldSize();

  /** Returns true if the remaining ranks form another generation when one is over. */
  default boolean isElastic() {
    return false;
  }

  /** Returns the current generation's number. */
  default long generation() {
    return 0;
  }

  /** Returns true if a trainer is known to wait for the next generation. A rank may know it before the others do. */
  default boolean newcomers() {
    return false;
  }

  /** Copies the root's values to all ranks, in place. */
  CompletableFuture<Void> broadcast(long[] values, int root);

  /**
   * Ends this generation, for all ranks, and waits for the next one, which forms when all active ranks have called this
   * and there are enough of them. Running calls fail first. Fails with {@code PeerLost} if a rank is lost meanwhile:
   * then call it again.
   *
   * @param inVain true if this rank has completed nothing in this generation, or the generation was never formed
   */
  default CompletableFuture<Void> reform(boolean inVain) {
    return CompletableFuture.failedFuture(
        new IllegalStateException("a group of a fixed number of ranks has no next generation"));
  }

  /** Completes after the given milliseconds, or sooner if this rank leaves its seat. */
  default CompletableFuture<Void> pause(long millis) {
    return CompletableFuture.completedFuture(null);
  }
}
