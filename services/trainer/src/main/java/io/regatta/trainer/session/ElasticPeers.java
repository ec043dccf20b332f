package io.regatta.trainer.session;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The ranks of an elastic job as one of them sees the others, in one generation after the other. All calls are of the current
 * generation; each fails with {@code PeerLost} when that is over, whatever ended it, and so do all later ones until
 * {@link #reform}. Anything but {@code PeerLost} means that this rank cannot go on. Called on one model thread.
 */
public interface ElasticPeers extends PeerRanks {

  /** This rank, in the current generation. */
  int rank();

  /** How many ranks there are, in the current generation. */
  int worldSize();

  /** The current generation's number. */
  long generation();

  /** Whether somebody is known to wait for the next generation. A rank may know it before the others do. */
  boolean newcomers();

  /** Gives all ranks what the root has, in place. */
  CompletableFuture<Void> broadcast(long[] values, int root);

  /**
   * Ends this generation, for all ranks, and waits for the next one, which forms when all who live have called this and there
   * are enough of them. Calls under way fail before. Fails with {@code PeerLost} if somebody is lost on the way: it is to be
   * called again then.
   *
   * @param inVain whether this rank has completed nothing in this generation, be it that it was not formed
   */
  CompletableFuture<Void> reform(boolean inVain);

  /** Completes after so many milliseconds, or sooner if this rank gives its seat up. */
  CompletableFuture<Void> pause(long millis);
}
