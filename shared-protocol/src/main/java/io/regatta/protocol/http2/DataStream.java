package io.regatta.protocol.http2;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import java.nio.channels.ClosedChannelException;

/**
 * The DATA of one stream on a {@link DataLane}, both directions. Owned by the connection's event loop; futures complete
 * and the sink and the drain handler are called on the context that opened it, which is of that loop.
 */
public final class DataStream {
  private static final Buffer BELL = Buffer.buffer(Long.BYTES).appendLong(PingWaiters.RING);

  private final VertxLoop loop;
  private final int queueBytes;
  private final HttpConnection connection;
  private final ChannelHandlerContext ctx;
  private final Http2ConnectionHandler http2;
  private final DataTap tap;
  private final Http2Stream stream;
  private Handler<Void> drain;
  private long pending;
  private boolean full;
  private boolean flushEach;

  DataStream(VertxLoop loop, int queueBytes, HttpConnection connection, ChannelHandlerContext ctx,
      Http2ConnectionHandler http2, DataTap tap, Http2Stream stream, DataSink sink) {
    this.loop = loop;
    this.queueBytes = queueBytes;
    this.connection = connection;
    this.ctx = ctx;
    this.http2 = http2;
    this.tap = tap;
    this.stream = stream;
    tap.register(stream.id(), bytes -> loop.dispatch(bytes, sink::data));
  }

  /**
   * Sends head and payload, one after the other, in as many frames as necessary. Takes both over and releases them;
   * they must not change before.
   *
   * @return completes when the last byte has been passed to the operating system; fails if the stream ends before
   */
  public Future<Void> write(ByteBuf head, ByteBuf payload) {
    Promise<Void> result = loop.promise();
    int bytes = head.readableBytes() + payload.readableBytes();
    if (!stream.state().localSideOpen() || !ctx.channel().isActive()) {
      head.release();
      payload.release();
      return loop.failed(new ClosedChannelException());
    }
    pending += bytes;
    full |= pending >= queueBytes;
    ChannelPromise done = ctx.newPromise();
    done.addListener(sent -> {
      written(bytes);
      if (sent.isSuccess()) {
        result.complete();
      } else {
        result.fail(sent.cause());
      }
    });
    Http2RemoteFlowController flow = http2.encoder().flowController();
    flow.addFlowControlled(stream, new DataWrite(stream.id(), this::maxFrame, head, payload, done));
    try {
      flow.writePendingBytes();
    } catch (Http2Exception e) {
      http2.onError(ctx, true, e);
    }
    if (flushEach || !tap.reading()) {
      ctx.flush();
    }
    return result.future();
  }

  private int maxFrame() {
    return http2.encoder().configuration().frameSizePolicy().maxFrameSize();
  }

  private void written(int bytes) {
    pending -= bytes;
    if (full && pending <= queueBytes / 2) {
      full = false;
      if (drain != null) {
        loop.dispatch(null, drain);
      }
    }
  }

  /** Returns true if enough waits to be sent that the writer should hold back until the drain handler is called. */
  public boolean writeQueueFull() {
    return full;
  }

  /** Sets the handler that is called when the queue has room again. */
  public void drainHandler(Handler<Void> handler) {
    drain = handler;
  }

  /**
   * Sends each later write to the socket at once; by default writes made while bytes are read are sent together, after
   * the reading.
   */
  public void flushEach() {
    flushEach = true;
  }

  /** Notes that the sink has processed this number of bytes; the peer may send as many more. */
  public void consumed(int bytes) {
    tap.consumed(ctx, stream, bytes);
  }

  /**
   * Signals the peer that a condition may hold that one of this connection's streams waits for, other than data. The
   * signal is a PING, because messages on a stream are read in their order, and the peer may read nothing of those
   * streams now.
   */
  public void ring() {
    connection.ping(BELL);
  }

  /** Calls this once, at the peer's next signal. */
  public void onRing(Runnable waits) {
    tap.bells().onRing(stream.id(), () -> loop.dispatch(null, v -> waits.run()));
  }

  /** Calls this when the stream has ended both ways; received data may still wait to be read. */
  public void onEnd(Runnable ended) {
    tap.bells().onEnd(stream.id(), () -> loop.dispatch(null, v -> ended.run()));
  }

  /** Stops the sink: later bytes are read and dropped. */
  public void stopReading() {
    tap.remove(stream.id());
  }
}
