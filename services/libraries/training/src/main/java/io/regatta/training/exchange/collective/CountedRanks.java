package io.regatta.training.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.training.session.PeerRanks;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The other ranks, with a count of the tensor bytes that a rank sends to them. The count is that of the algorithms that
 * send least (docs/algorithms.md#collectives). Of p ranks, a sum sends 2 (p - 1) / p of a tensor (to aggregators: the
 * whole tensor, once), a gather p - 1 of a rank's parts. Belongs to a model thread.
 */
public final class CountedRanks implements PeerRanks {

  private final PeerRanks ranks;
  private final int worldSize;
  /** Share of a summed tensor that is sent. */
  private final double share;
  private double bytes;

  public CountedRanks(PeerRanks ranks, int worldSize) {
    this(ranks, worldSize, false);
  }

  /** @param aggregated true if aggregators make the sums */
  public CountedRanks(PeerRanks ranks, int worldSize, boolean aggregated) {
    this.ranks = ranks;
    this.worldSize = worldSize;
    share = aggregated && worldSize > 1 ? 1 : 2.0 * (worldSize - 1) / worldSize;
  }

  /** Returns the bytes sent by this rank so far. */
  public double bytes() {
    return bytes;
  }

  @Override
  public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
    bytes += share * (floats.remaining() / Float.BYTES) * wire.bytes();
    return ranks.sum(floats, wire);
  }

  @Override
  public CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    bytes += share * (to - from) * wire.bytes();
    return ranks.sum(memory, from, to, wire);
  }

  @Override
  public TensorMemory memory(int wanted) {
    return ranks.memory(wanted);
  }

  @Override
  public CompletableFuture<Void> gather(long[] parts) {
    bytes += (double) (worldSize - 1) / worldSize * parts.length * Long.BYTES;
    return ranks.gather(parts);
  }

  @Override
  public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
    throw new UnsupportedOperationException("no step broadcasts");
  }

  /** Returns separate streams, whose sums are not counted here. */
  @Override
  public CompletableFuture<PeerRanks> apart(String name) {
    return ranks.apart(name);
  }
}
