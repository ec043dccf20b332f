package io.regatta.training.session;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;
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
  default CompletableFuture<Void> sum(ByteBuffer floats) {
    return sum(floats, WireType.FLOAT32);
  }

  /** The same with elements that travel as this type of float: all ranks end with values of it. */
  CompletableFuture<Void> sum(ByteBuffer floats, WireType wire);

  /**
   * The same with the floats {@code [from .. to)} of memory, which is {@link #memory} best.
   *
   * @return whether all elements of the sum are known to be finite; then they are so at all ranks
   */
  default CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    return sum(memory.floats(from, to), wire).thenApply(summed -> false);
  }

  /**
   * Memory for floats that are summed again and again, zeros: where ranks of this machine can read it where it lies, if the system has
   * such memory to give. Blocks.
   *
   * @param bytes at least 1
   */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Gathers each rank's part of an array of as many equal parts as there are ranks, in place. The array is lent until the future
   * completes.
   *
   * @param parts rank r has given part r
   */
  CompletableFuture<Void> gather(long[] parts);

  /** Gives all ranks what the root has, in place. */
  CompletableFuture<Void> broadcast(ByteBuffer floats, int root);

  /**
   * The same ranks over streams of their own, whose calls are matched apart from these. All ranks call it, outside of other calls.
   *
   * @param name the same at all ranks; each once
   * @return fails with {@code InvalidInput} where ranks come and go
   */
  default CompletableFuture<PeerRanks> apart(String name) {
    return CompletableFuture.failedFuture(new InvalidInput("ranks that come and go have one set of streams, none for " + name
        + " beside it"));
  }
}
