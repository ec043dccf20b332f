package io.regatta.trainer.session;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The ranks of a collective job as one of them sees the others. Calls are matched between ranks by the order in which they are
 * made, and several may be under way; all ranks end with the same bits. Memory is direct, float32 in little-endian order
 * from position to limit, and lent until the future completes. Called on one model thread; futures complete on any thread, and
 * fail with a {@link io.regatta.core.error.RegattaException}: {@code PeerLost} if a rank is lost, {@code InvalidInput} if
 * another makes a different call.
 */
public interface PeerRanks {

  /** Element by element, the sum over all ranks, in place. */
  CompletableFuture<Void> sum(ByteBuffer floats);

  /** Gives all ranks what the root has, in place. */
  CompletableFuture<Void> broadcast(ByteBuffer floats, int root);
}
