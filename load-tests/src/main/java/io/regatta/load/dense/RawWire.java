package io.regatta.load.dense;

import java.nio.ByteBuffer;

/** The sending side of a connection of {@link RawFrames}. Owned by the connection's loop. */
interface RawWire {

  /** Sends a message without payload. */
  void send(int what);

  /**
   * Sends a part of a vector as a chunk, after the messages on their way. Its direct memory must not change until the
   * peer has answered.
   */
  void send(int what, ByteBuffer vector, int element, int count);

  /** Copies the whole vector before it returns, and sends it in chunks. The peer asks again only when it has it. */
  void sendAll(int what, float[] vector, int chunkElements);

  /** Returns true if a sender that can wait should; {@link RawTrainer#pump} is called when there is room again. */
  boolean full();
}
