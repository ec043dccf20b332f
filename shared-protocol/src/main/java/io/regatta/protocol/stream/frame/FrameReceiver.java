package io.regatta.protocol.stream.frame;

import io.netty.buffer.ByteBuf;
import io.regatta.protocol.tensor.TensorMessage;

/**
 * The receiver of a tensor stream's frames as they arrive from the network, so that a payload can be copied (or added,
 * or applied) straight to its place. For each frame: {@link #begin}, {@link #payload} any number of times, then
 * {@link #end}. Called on the stream's context. A frame that is begun does not always end: the stream may break, and
 * then its exception handler is called.
 */
public interface FrameReceiver {

  /**
   * Begins a frame.
   *
   * @param header all fields but the payload
   * @param payloadBytes length of the payload; within the stream's limit, but announced only: it may never arrive
   */
  void begin(TensorMessage header, int payloadBytes);

  /** Takes the next bytes of the payload, cut anywhere; to be read before the call returns, since they are not kept. */
  void payload(ByteBuf bytes);

  /** Ends the frame, which is complete. */
  void end();
}
