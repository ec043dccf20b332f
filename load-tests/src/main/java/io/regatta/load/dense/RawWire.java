package io.regatta.load.dense;

/** The sending side of a connection of {@link RawFrames}. Owned by the connection's loop. */
interface RawWire {

  /** Sends a message without payload. */
  void send(int what);

  /** Copies a part of the vector and sends it as a chunk, behind what is on its way already. */
  void send(int what, float[] vector, int element, int count);

  /** Copies the whole vector before it returns, and sends it in chunks. The peer asks again only when it has it. */
  void sendAll(int what, float[] vector, int chunkElements);

  /** Whether a sender that can wait should; {@link RawTrainer#pump} is called when there is room again. */
  boolean full();
}
