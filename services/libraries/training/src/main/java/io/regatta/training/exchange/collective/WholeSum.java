package io.regatta.training.exchange.collective;

import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.training.session.PeerRanks;
import java.nio.FloatBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * The sum of all elements, by all-reduce. On a narrow wire type each rank sends its share of the mean, so that no
 * partial sum is larger than the largest gradient. One that float16 cannot hold (65504) becomes infinite, and is left
 * to the NaN policy. Belongs to a model thread.
 */
final class WholeSum implements GradientSum {

  private final PeerRanks peers;
  private final int worldSize;
  private final WireType wire;
  private TensorMemory memory;
  private FloatBuffer floats;

  WholeSum(PeerRanks peers, int worldSize, WireType wire) {
    this.peers = peers;
    this.worldSize = worldSize;
    this.wire = wire;
  }

  /** Returns memory; elements that are narrowed are not sent in place. */
  @Override
  public TensorMemory memory(int bytes) {
    return wire.narrows() ? TensorMemory.direct(bytes) : peers.memory(bytes);
  }

  @Override
  public boolean carriesHeader() {
    return !wire.narrows();
  }

  @Override
  public void begins(TensorMemory gradients, long step, double weight) {
    memory = gradients;
    floats = gradients.bytes().asFloatBuffer();
  }

  @Override
  public CompletableFuture<Boolean> send(int from, int to) {
    if (wire.narrows()) {
      Scaling.scale(floats, from, to, 1.0 / worldSize);
    }
    return peers.sum(memory, from, to, wire);
  }

  @Override
  public void receive(int from, int to) {
    if (wire.narrows()) {
      Scaling.scale(floats, from, to, worldSize);
    }
  }
}
