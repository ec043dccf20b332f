package io.regatta.load.dense;

import io.netty.buffer.ByteBuf;

/**
 * The wire of the kinds without HTTP/2: messages of 12 bytes (what, payload bytes, first element of the vector) and the
 * payload, read as the socket delivers it. Owned by the connection's loop.
 */
final class RawFrames {

  static final int HEADER_BYTES = 12;
  static final int PUSH = 1;
  static final int ACK = 2;
  static final int PULL = 3;
  static final int VALUES = 4;

  /** Receiver of the messages. */
  interface Sink {
    /** Takes a message without payload. */
    void message(int what);

    /** Begins a chunk. */
    void begin(int what, int element);

    /** Takes the next slice of its payload, all of which is read. */
    void payload(ByteBuf piece);
  }

  private final Sink sink;
  private final ByteBuf header;
  private int left;

  RawFrames(Sink sink, ByteBuf headerMemory) {
    this.sink = sink;
    header = headerMemory;
  }

  /** Reads everything that is available. */
  void read(ByteBuf in) {
    while (in.isReadable()) {
      if (left > 0) {
        ByteBuf piece = in.readSlice(Math.min(left, in.readableBytes()));
        left -= piece.readableBytes();
        sink.payload(piece);
      } else {
        in.readBytes(header, Math.min(HEADER_BYTES - header.readableBytes(), in.readableBytes()));
        if (header.readableBytes() == HEADER_BYTES) {
          begin();
        }
      }
    }
  }

  private void begin() {
    int what = header.readInt();
    left = header.readInt();
    int element = header.readInt();
    header.clear();
    if (left == 0) {
      sink.message(what);
    } else {
      sink.begin(what, element);
    }
  }
}
