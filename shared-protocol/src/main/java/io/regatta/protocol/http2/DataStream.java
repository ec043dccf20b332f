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
   * Sends head and payload, one behind the other, in as many frames as it takes. Takes both over and releases them;
   * they must not change before.
   *
   * @return completes when the last byte has been handed to the operating system; fails if the stream ends before
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

  /** Whether so much waits to be sent that the writer should hold back until the drain handler is called. */
  public boolean writeQueueFull() {
    return full;
  }

  /** Called when the queue has room again. */
  public void drainHandler(Handler<Void> handler) {
    drain = handler;
  }

  /** From now on each write goes to the socket at once; by default those made while bytes are read go together, behind these. */
  public void flushEach() {
    flushEach = true;
  }

  /** The sink has done with so many bytes; as many more may be sent by the peer. */
  public void consumed(int bytes) {
    tap.consumed(ctx, stream, bytes);
  }

  /**
   * Tells the peer that what one of the streams of this connection waits for, which is no data, may be there. It is told of that even
   * while it reads nothing of those streams: by a PING, for messages on a stream are read in their order.
   */
  public void ring() {
    connection.ping(BELL);
  }

  /** Calls this once, when the peer next rings. */
  public void onRing(Runnable waits) {
    tap.bells().onRing(stream.id(), () -> loop.dispatch(null, v -> waits.run()));
  }

  /** Calls this when the stream has ended both ways; what has come before may still wait to be read. */
  public void onEnd(Runnable ended) {
    tap.bells().onEnd(stream.id(), () -> loop.dispatch(null, v -> ended.run()));
  }

  /** The sink takes nothing more: what still comes is read and dropped. */
  public void stopReading() {
    tap.remove(stream.id());
  }
}
