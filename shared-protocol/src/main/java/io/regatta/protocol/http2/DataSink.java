package io.regatta.protocol.http2;

import io.netty.buffer.ByteBuf;

/** The receiver of the content of one stream's DATA frames. Called on the connection's event loop. */
public interface DataSink {

  /**
   * Takes the next bytes of the stream, in order and without padding. The sink releases them, and calls
   * {@link DataStream#consumed} when it has processed them. Must not throw.
   */
  void data(ByteBuf bytes);
}
