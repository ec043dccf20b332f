package io.regatta.trainer.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.trainer.session.PeerRanks;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The other ranks, with a count of what a rank sends them of tensors: by each algorithm that is best in bytes
 * (docs/algorithms.md#collectives), of p ranks, a sum sends 2 (p - 1) / p of a tensor (to aggregators: all of it, once), gathering
 * p - 1 of a rank's parts. Belongs to a model thread.
 */
public final class CountedRanks implements PeerRanks {

  private final PeerRanks ranks;
  private final int worldSize;
  /** Of a tensor that is summed: how much of it is sent. */
  private final double share;
  private double bytes;

  public CountedRanks(PeerRanks ranks, int worldSize) {
    this(ranks, worldSize, false);
  }

  /** @param aggregated whether sums are made by aggregators */
  public CountedRanks(PeerRanks ranks, int worldSize, boolean aggregated) {
    this.ranks = ranks;
    this.worldSize = worldSize;
    share = aggregated && worldSize > 1 ? 1 : 2.0 * (worldSize - 1) / worldSize;
  }

  /** Sent by this rank so far. */
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

  /** What is summed apart is not counted here. */
  @Override
  public CompletableFuture<PeerRanks> apart(String name) {
    return ranks.apart(name);
  }
}
