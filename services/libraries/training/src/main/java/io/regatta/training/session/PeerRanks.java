package io.regatta.training.session;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The ranks of a collective job from the point of view of one of them. Calls are matched between ranks by the order in
 * which they are made, and several may be running; all ranks get the same bits. Memory is direct, float32 in
 * little-endian order from position to limit, and borrowed until the future completes.
 *
 * <p>Called on one model thread. Futures complete on any thread, and fail with a
 * {@link io.regatta.core.error.RegattaException}: {@code PeerLost} if a rank is lost, {@code InvalidInput} if another
 * makes a different call.
 */
public interface PeerRanks {

  /** Sums elementwise over all ranks, in place. */
  default CompletableFuture<Void> sum(ByteBuffer floats) {
    return sum(floats, WireType.FLOAT32);
  }

  /** Sums with elements that are sent as this float type: all ranks get values of it. */
  CompletableFuture<Void> sum(ByteBuffer floats, WireType wire);

  /**
   * Sums the floats {@code [from .. to)} of memory, preferably from {@link #memory}.
   *
   * @return true if all elements of the sum are known to be finite; then they are so on all ranks
   */
  default CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    return sum(memory.floats(from, to), wire).thenApply(summed -> false);
  }

  /**
   * Returns memory for floats that are summed repeatedly, zeroed. If the system has such memory, ranks of this machine
   * can read it in place. Blocks.
   *
   * @param bytes at least 1
   */
  default TensorMemory memory(int bytes) {
    return TensorMemory.direct(bytes);
  }

  /**
   * Gathers each rank's part of an array of as many equal parts as there are ranks, in place. The array is borrowed
   * until the future completes.
   *
   * @param parts rank r has set part r
   */
  CompletableFuture<Void> gather(long[] parts);

  /** Copies the root's values to all ranks, in place. */
  CompletableFuture<Void> broadcast(ByteBuffer floats, int root);

  /**
   * Returns the same ranks over streams of their own, whose calls are matched separately. All ranks call it, outside of
   * other calls.
   *
   * @param name the same on all ranks; each is used once
   * @return fails with {@code InvalidInput} in elastic jobs
   */
  default CompletableFuture<PeerRanks> apart(String name) {
    return CompletableFuture.failedFuture(new InvalidInput("ranks of an elastic job have one set of streams, and none for "
        + name + " beside it"));
  }
}
