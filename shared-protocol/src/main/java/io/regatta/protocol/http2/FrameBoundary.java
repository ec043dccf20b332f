package io.regatta.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http2.Http2FrameTypes;
import java.nio.ByteBuffer;

/**
 * A search for the end of one known frame, the answer to a PING with a random number. The stream of bytes may begin in
 * the middle of another frame. The 17 bytes are searched as Knuth, Morris and Pratt do, so the frame may be cut in any
 * way.
 */
final class FrameBoundary {
  private static final int LENGTH = 8;
  private static final int ACK = 1;

  private final byte[] wanted;
  /** Position to continue at after a mismatch, by the number of matched bytes. */
  private final int[] fallback;
  private int matched;

  /** @param data of the PING */
  FrameBoundary(long data) {
    wanted = ByteBuffer.allocate(9 + LENGTH).put((byte) 0).put((byte) 0).put((byte) LENGTH).put(Http2FrameTypes.PING)
        .put((byte) ACK).putInt(0).putLong(data).array();
    fallback = new int[wanted.length];
    for (int i = 1, k = 0; i < wanted.length; i++) {
      while (k > 0 && wanted[i] != wanted[k]) {
        k = fallback[k - 1];
      }
      if (wanted[i] == wanted[k]) {
        k++;
      }
      fallback[i] = k;
    }
  }

  /**
   * Returns the index after the frame, or -1 if its end is not among these bytes; to be called again with the following
   * ones.
   */
  int find(ByteBuf bytes) {
    for (int i = bytes.readerIndex(); i < bytes.writerIndex(); i++) {
      byte b = bytes.getByte(i);
      while (matched > 0 && b != wanted[matched]) {
        matched = fallback[matched - 1];
      }
      if (b == wanted[matched] && ++matched == wanted.length) {
        return i + 1;
      }
    }
    return -1;
  }
}
