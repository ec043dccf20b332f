package io.regatta.protocol.stream.frame;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.TensorMessage;

/**
 * Takes the frames of a tensor stream as they come from the network, so that a payload can be copied (or added, or
 * applied) straight to where it belongs. For each frame: {@link #begin}, {@link #payload} any number of times, then
 * {@link #end}. Called on the stream's context. A frame that is begun is not always ended: the stream may break, and then
 * its exception handler is told.
 */
public interface FrameReceiver {

  /**
   * A frame begins.
   *
   * @param header all fields but the payload
   * @param payloadBytes length of the payload; within the stream's limit, but announced only: it may never come
   */
  void begin(TensorMessage header, int payloadBytes);

  /** The next bytes of the payload, cut anywhere; to be read before the call returns, for they are not kept. */
  void payload(ByteBuf bytes);

  /** The frame is complete. */
  void end();
}
