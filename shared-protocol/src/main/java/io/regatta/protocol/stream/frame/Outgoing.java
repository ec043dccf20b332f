package io.regatta.protocol.stream.frame;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.Iterator;
import java.util.List;

/**
 * A frame to be sent, with the pooled memory of its payload, which returns to the pool when the send completes.
 *
 * @param memory null for a frame without payload
 */
public record Outgoing(TensorFrame frame, ByteBuf memory) {

  /** Returns a message of one frame without payload. */
  public static Iterator<Outgoing> one(TensorMessage header) {
    return List.of(new Outgoing(TensorFrame.of(header), null)).iterator();
  }

  /** Returns the memory to the pool. */
  public void release() {
    if (memory != null) {
      memory.release();
    }
  }
}
