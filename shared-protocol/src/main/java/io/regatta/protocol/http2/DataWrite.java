package io.regatta.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import java.util.function.IntSupplier;

/**
 * Bytes to be sent as DATA frames that are made here, past Netty's frame writer. A frame's nine bytes (with the rest of
 * a small head, if any) and a slice of the payload go to the socket unchanged. Netty's flow controller decides when and
 * how many. So it keeps the windows, and all writes on one stream keep their order. Owned by the connection's event
 * loop.
 */
final class DataWrite implements Http2RemoteFlowController.FlowControlled {
  /**
   * A frame no longer than this goes as one buffer: copying it costs less than a second entry in the socket's queue.
   */
  private static final int COPIED_BYTES = 1 << 10;

  private final int streamId;
  private final IntSupplier maxFrame;
  private final ByteBuf head;
  private final ByteBuf payload;
  private final ChannelPromise done;
  private int size;
  /** Promise of the last frame that has been passed to the socket. */
  private ChannelPromise last;

  /**
   * Takes head and payload over and releases them.
   *
   * @param maxFrame largest frame that the peer accepts, in bytes
   * @param done completes when the last byte has been passed to the socket, fails if it never will be
   */
  DataWrite(int streamId, IntSupplier maxFrame, ByteBuf head, ByteBuf payload, ChannelPromise done) {
    this.streamId = streamId;
    this.maxFrame = maxFrame;
    this.head = head;
    this.payload = payload;
    this.done = done;
    size = Math.addExact(head.readableBytes(), payload.readableBytes());
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public void write(ChannelHandlerContext ctx, int allowedBytes) {
    int left = Math.min(allowedBytes, size);
    int most = maxFrame.getAsInt();
    while (left > 0) {
      int frame = Math.min(left, most);
      int ofHead = Math.min(frame, head.readableBytes());
      int ofPayload = frame - ofHead;
      boolean copied = frame <= COPIED_BYTES;
      ByteBuf start = ctx.alloc().directBuffer(Http2CodecUtil.FRAME_HEADER_LENGTH + (copied ? frame : ofHead));
      start.writeMedium(frame).writeByte(Http2FrameTypes.DATA).writeByte(0).writeInt(streamId).writeBytes(head, ofHead);
      size -= frame;
      left -= frame;
      ChannelPromise written = left > 0 ? ctx.voidPromise() : last(ctx);
      if (copied) {
        ctx.write(start.writeBytes(payload, ofPayload), written);
      } else if (ofPayload == 0) {
        ctx.write(start, written);
      } else {
        ctx.write(start, ctx.voidPromise());
        ctx.write(payload.readRetainedSlice(ofPayload), written);
      }
    }
  }

  /** Returns the promise of the last frame for now: when it has left the socket's queue, the ones before it have. */
  private ChannelPromise last(ChannelHandlerContext ctx) {
    last = size == 0 ? done : ctx.newPromise();
    return last;
  }

  @Override
  public void writeComplete() {
    release();
  }

  @Override
  public void error(ChannelHandlerContext ctx, Throwable cause) {
    release();
    if (last == null || last.isDone()) {
      done.tryFailure(cause);
    } else { // frames of the payload are still on their way through the socket's queue
      last.addListener(written -> done.tryFailure(cause));
    }
  }

  private void release() {
    head.release();
    payload.release();
  }

  @Override
  public boolean merge(ChannelHandlerContext ctx, Http2RemoteFlowController.FlowControlled next) {
    return false;
  }
}
