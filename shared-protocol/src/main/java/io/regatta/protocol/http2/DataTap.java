package io.regatta.protocol.http2;

import static io.netty.handler.codec.http2.Http2CodecUtil.FRAME_HEADER_LENGTH;
import static io.netty.handler.codec.http2.Http2Error.PROTOCOL_ERROR;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.util.collection.IntObjectHashMap;
import io.netty.util.collection.IntObjectMap;

/**
 * A handler in front of a connection's HTTP/2 handler. It passes the content of DATA frames on registered streams to
 * their sinks as it arrives, whole frames or parts of them. Everything else passes on to the handler unchanged. For its
 * frames it does the handler's work: the limit of a frame's length, padding, the windows (of Netty's own flow
 * controller) and the end of the stream. The handler gets that end as an empty frame. Owned by the connection's event
 * loop.
 */
final class DataTap extends ChannelInboundHandlerAdapter {
  private static final int FLAG_END_STREAM = 1;
  private static final int FLAG_END_HEADERS = 4;
  private static final int FLAG_PADDED = 8;
  private static final int MAX_EMPTY = 2;

  private enum State {
    /** The boundary between two frames is not known yet. */
    SEARCHING,
    HEADER, FOREIGN, PAD_LENGTH, CONTENT, PADDING
  }

  private final Http2ConnectionHandler http2;
  private final int maxFrameBytes;
  private final FrameBoundary boundary;
  private final Runnable found;
  private final PingWaiters bells;
  private final IntObjectMap<DataSink> sinks = new IntObjectHashMap<>();
  private final ByteBuf header = Unpooled.buffer(FRAME_HEADER_LENGTH, FRAME_HEADER_LENGTH);
  private State state = State.SEARCHING;
  private boolean reading;
  /** True while HEADERS are under way that other frames may not interrupt; the handler judges other frames. */
  private boolean headersOpen;
  /** Bytes of the current frame that are still to come: of its content or, if foreign, of all. */
  private int left;
  private int padding;
  private int emptyInARow;
  private boolean endsStream;
  /** Null between frames, and for content of a stream that has ended. */
  private Http2Stream stream;
  /** Index in the current bytes at which those begin that pass on to the handler, or -1. */
  private int foreignFrom = -1;

  /**
   * @param maxFrameBytes largest frame that this side accepts
   * @param ping data of a PING that has been sent, by whose answer the tap finds its place
   * @param found called when it has
   */
  DataTap(Http2ConnectionHandler http2, int maxFrameBytes, long ping, Runnable found) {
    this.http2 = http2;
    this.maxFrameBytes = maxFrameBytes;
    this.boundary = new FrameBoundary(ping);
    this.found = found;
    bells = new PingWaiters(http2.connection());
  }

  PingWaiters bells() {
    return bells;
  }

  boolean ready() {
    return state != State.SEARCHING;
  }

  /** Returns true while bytes are being read: writes meanwhile are flushed afterwards. */
  boolean reading() {
    return reading;
  }

  void register(int streamId, DataSink sink) {
    sinks.put(streamId, sink);
  }

  void remove(int streamId) {
    sinks.remove(streamId);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object message) {
    if (!(message instanceof ByteBuf bytes)) {
      ctx.fireChannelRead(message);
      return;
    }
    reading = true;
    try {
      if (state == State.SEARCHING) {
        search(ctx, bytes);
      }
      while (bytes.isReadable()) {
        step(ctx, bytes);
      }
      passOn(ctx, bytes, bytes.writerIndex());
    } finally {
      foreignFrom = -1;
      bytes.release();
    }
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) {
    reading = false;
    ctx.fireChannelReadComplete(); // the HTTP/2 handler flushes
  }

  private void search(ChannelHandlerContext ctx, ByteBuf bytes) {
    int end = boundary.find(bytes);
    foreignFrom = bytes.readerIndex();
    bytes.readerIndex(end < 0 ? bytes.writerIndex() : end);
    if (end >= 0) {
      passOn(ctx, bytes, end); // not ready yet: content of a stream that opens in these bytes may lie in them, too
      state = State.HEADER;
      found.run();
    }
  }

  /** Passes the handler's bytes, up to this index, on to it. */
  private void passOn(ChannelHandlerContext ctx, ByteBuf bytes, int to) {
    int from = foreignFrom;
    foreignFrom = -1;
    if (from >= 0 && from < to) {
      ctx.fireChannelRead(bytes.retainedSlice(from, to - from));
    }
  }

  private void step(ChannelHandlerContext ctx, ByteBuf bytes) {
    switch (state) {
      case HEADER -> header(ctx, bytes);
      case FOREIGN -> {
        if (foreignFrom < 0) {
          foreignFrom = bytes.readerIndex();
        }
        left -= skip(bytes, left);
        if (left == 0) {
          state = State.HEADER;
        }
      }
      case PAD_LENGTH -> padLength(ctx, bytes.readUnsignedByte());
      case CONTENT -> content(ctx, bytes);
      case PADDING -> {
        int n = skip(bytes, padding);
        padding -= n;
        consumed(ctx, stream, n);
        frameEnds(ctx);
      }
      default -> throw new IllegalStateException("no bytes are read in state " + state);
    }
  }

  private static int skip(ByteBuf bytes, int most) {
    int n = Math.min(most, bytes.readableBytes());
    bytes.skipBytes(n);
    return n;
  }

  private void header(ChannelHandlerContext ctx, ByteBuf bytes) {
    int start = bytes.readerIndex();
    boolean whole = !header.isReadable() && bytes.readableBytes() >= FRAME_HEADER_LENGTH;
    bytes.readBytes(header, Math.min(header.writableBytes(), bytes.readableBytes()));
    if (header.isWritable()) {
      passOn(ctx, bytes, start); // the rest of the header comes with the next bytes
      return;
    }
    int length = header.getUnsignedMedium(0);
    int type = header.getByte(3);
    int flags = header.getByte(4);
    int id = header.getInt(5) & Integer.MAX_VALUE;
    if (type == Http2FrameTypes.DATA && !headersOpen) {
      passOn(ctx, bytes, start); // earlier bytes may open or end this stream
      if (length == 0 ? swallowed(id, flags) : taken(ctx, id, length, flags)) {
        header.clear();
        return;
      }
    } else if (type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.CONTINUATION
        || type == Http2FrameTypes.PUSH_PROMISE) {
      headersOpen = (flags & FLAG_END_HEADERS) == 0;
    }
    if (!whole) {
      ctx.fireChannelRead(ctx.alloc().buffer(FRAME_HEADER_LENGTH).writeBytes(header));
    }
    if (foreignFrom < 0) {
      foreignFrom = whole ? start : bytes.readerIndex();
    }
    header.clear();
    left = length;
    state = length == 0 ? State.HEADER : State.FOREIGN;
  }

  /**
   * Returns true if an empty DATA frame is processed here. The handler ends connections that send several in a row, but
   * does not see the frames between them, so it gets none of those that are not too many.
   */
  private boolean swallowed(int id, int flags) {
    return sinks.containsKey(id) && (flags & FLAG_END_STREAM) == 0 && ++emptyInARow <= MAX_EMPTY;
  }

  /**
   * Returns true if this DATA frame is for a sink of ours, or for a former stream: bytes on their way while it was
   * reset. These are dropped, as HTTP/2 demands. The handler would answer each such frame by a RST_STREAM, and end the
   * connection with all its other streams when these become many. Other faults of a frame are the handler's business.
   */
  private boolean taken(ChannelHandlerContext ctx, int id, int length, int flags) {
    Http2Stream of = http2.connection().stream(id);
    boolean late = of == null && http2.connection().streamMayHaveExisted(id);
    boolean ours = of != null && sinks.containsKey(id) && of.state().remoteSideOpen();
    if (!late && !ours || length > maxFrameBytes) {
      return false;
    }
    try { // it uses only the number of bytes; those of no stream it gives back at once
      http2.decoder().flowController().receiveFlowControlledFrame(of, Unpooled.EMPTY_BUFFER, length, false);
    } catch (Http2Exception e) {
      sinks.remove(id); // the content is read and dropped
      http2.onError(ctx, false, e);
    }
    emptyInARow = 0;
    stream = of;
    left = length;
    padding = 0;
    endsStream = ours && (flags & FLAG_END_STREAM) != 0;
    state = ours && (flags & FLAG_PADDED) != 0 ? State.PAD_LENGTH : State.CONTENT;
    return true;
  }

  private void padLength(ChannelHandlerContext ctx, int pad) {
    left--;
    if (pad > left) {
      http2.onError(ctx, false, Http2Exception.connectionError(PROTOCOL_ERROR,
          "DATA of stream %d has %d bytes of padding but only %d bytes follow", stream.id(), pad, left));
      pad = left;
    }
    padding = pad;
    left -= pad;
    consumed(ctx, stream, 1);
    state = State.CONTENT;
    frameEnds(ctx);
  }

  private void content(ChannelHandlerContext ctx, ByteBuf bytes) {
    int n = Math.min(left, bytes.readableBytes());
    left -= n;
    DataSink sink = stream == null ? null : sinks.get(stream.id());
    if (sink == null) { // given up before, or in the middle of a frame
      bytes.skipBytes(n);
      consumed(ctx, stream, n);
    } else {
      sink.data(bytes.readRetainedSlice(n));
    }
    if (left == 0) {
      state = State.PADDING;
      frameEnds(ctx);
    }
  }

  /** Continues with the next part of the frame that is not empty, or with the next frame. */
  private void frameEnds(ChannelHandlerContext ctx) {
    if (left > 0 || padding > 0) {
      return;
    }
    state = State.HEADER;
    if (endsStream && stream.state().remoteSideOpen()) {
      ctx.fireChannelRead(ctx.alloc().buffer(FRAME_HEADER_LENGTH).writeMedium(0).writeByte(Http2FrameTypes.DATA)
          .writeByte(FLAG_END_STREAM).writeInt(stream.id()));
    }
    stream = null;
  }

  /** Returns bytes to the windows; a stream that is over has returned its own already. */
  void consumed(ChannelHandlerContext ctx, Http2Stream of, int bytes) {
    if (bytes == 0) {
      return;
    }
    try {
      if (http2.decoder().flowController().consumeBytes(of, bytes) && !reading) {
        ctx.flush();
      }
    } catch (Http2Exception e) {
      http2.onError(ctx, false, e);
    }
  }
}
