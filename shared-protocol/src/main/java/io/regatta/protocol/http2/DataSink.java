package io.regatta.protocol.http2;

import io.netty.buffer.ByteBuf;

/** Takes the content of one stream's DATA frames. Called on the connection's event loop. */
public interface DataSink {

  /**
   * The next bytes of the stream, in order and without padding; the sink releases them, and tells
   * {@link DataStream#consumed} when it has done with them. Must not throw.
   */
  void data(ByteBuf bytes);
}
