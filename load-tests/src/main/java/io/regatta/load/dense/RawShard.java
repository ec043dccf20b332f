package io.regatta.load.dense;

import io.netty.buffer.ByteBuf;

/**
 * The shard's end of a connection of {@link RawFrames}. It applies a gradient as it arrives, and answers a pull with a
 * copy of the weights that is complete before anything else is read. Owned by the connection's loop.
 */
final class RawShard implements RawFrames.Sink {
  private final DenseTask task;
  private final float[] weights;
  private final SgdPieces apply;
  private final RawWire wire;

  RawShard(DenseTask task, RawWire wire) {
    this.task = task;
    this.wire = wire;
    weights = task.initial();
    apply = new SgdPieces(weights);
  }

  @Override
  public void message(int what) {
    wire.sendAll(RawFrames.VALUES, weights, task.chunkElements());
  }

  @Override
  public void begin(int what, int element) {
    apply.begin(element);
  }

  @Override
  public void payload(ByteBuf piece) {
    if (apply.take(piece.nioBuffer()) == weights.length) {
      wire.send(RawFrames.ACK);
    }
  }
}
