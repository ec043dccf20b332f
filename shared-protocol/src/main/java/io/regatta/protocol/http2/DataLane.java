package io.regatta.protocol.http2;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Stream;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.vertx.NettyParts;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A way for the content of DATA frames past the copies of Vert.x and of Netty's HTTP/2 codec, in both directions, on an
 * HTTP/2 connection of Vert.x. Streams are opened, answered, ended and reset through Vert.x as usual. The wire is the
 * same, and so are the windows, which Netty's flow controllers keep. Installed once per connection and owned by its
 * event loop.
 *
 * <p>At the time of the installation the HTTP/2 handler may be in the middle of a frame. The answer to a PING marks the
 * beginning of the next frame. Until it arrives the lane is not {@link #of ready}, and streams go the ordinary way. A
 * client waits for it before it opens streams. A server of ours is ready when the client is, because its own PING went
 * out before the client's was answered.
 */
public final class DataLane {
  private static final String NAME = "regatta-data-tap";
  /** Limits of the socket's queue: enough for a flush of some frames, not for whole tensors. */
  private static final WriteBufferWaterMark WATER = new WriteBufferWaterMark(256 << 10, 1 << 20);

  private final HttpConnection connection;
  private final ChannelHandlerContext context;
  private final Http2ConnectionHandler http2;
  private final DataTap tap;

  private DataLane(HttpConnection connection, ChannelHandlerContext context, Http2ConnectionHandler http2, DataTap tap) {
    this.connection = connection;
    this.context = context;
    this.http2 = http2;
    this.tap = tap;
  }

  /**
   * Installs the lane if it is not there yet and this connection can have one.
   *
   * @param maxFrameBytes largest frame that this side has announced to accept
   * @return completes with whether streams opened from now on can use it; never fails
   */
  public static Future<Boolean> install(HttpConnection connection, int maxFrameBytes) {
    Channel channel = channel(connection);
    Http2ConnectionHandler http2 = channel == null ? null : channel.pipeline().get(Http2ConnectionHandler.class);
    if (http2 == null) {
      return Future.succeededFuture(false);
    }
    if (channel.pipeline().get(NAME) instanceof DataTap there) {
      return Future.succeededFuture(there.ready());
    }
    Promise<Boolean> ready = Promise.promise();
    long data = ThreadLocalRandom.current().nextLong();
    DataTap tap = new DataTap(http2, maxFrameBytes, data, () -> ready.tryComplete(true));
    ChannelPipeline pipeline = channel.pipeline();
    pipeline.addBefore(pipeline.context(http2).name(), NAME, tap);
    // Not the default of Netty 4.2, whose buffers cost more: the socket's bytes are read into these, and sent from them.
    channel.config().setAllocator(DirectMemory.ALLOCATOR).setWriteBufferWaterMark(WATER);
    Loopback.unpaced(channel);
    connection.pingHandler(ping -> {
      if (ping.length() == Long.BYTES && ping.getLong(0) == PingWaiters.RING) {
        tap.bells().rung();
      }
    });
    connection.ping(Buffer.buffer(8).appendLong(data)).onFailure(e -> ready.tryComplete(false));
    channel.closeFuture().addListener(closed -> ready.tryComplete(false));
    return ready.future();
  }

  /**
   * Returns the lane of this connection, or null if it has none that is ready, or if this is not the connection's event
   * loop.
   */
  public static DataLane of(HttpConnection connection) {
    Channel channel = channel(connection);
    if (channel != null && channel.pipeline().get(NAME) instanceof DataTap tap && tap.ready()) {
      Http2ConnectionHandler http2 = channel.pipeline().get(Http2ConnectionHandler.class);
      if (http2 != null) {
        return new DataLane(connection, channel.pipeline().context(http2), http2, tap);
      }
    }
    return null;
  }

  /**
   * Closes a connection at once; frames that wait to be sent fail. The ordinary way first waits until a last frame has
   * been sent, which never happens if the peer reads nothing. Any thread.
   */
  public static void cut(HttpConnection connection) {
    Channel channel = NettyParts.channel(connection);
    if (channel == null) {
      connection.close();
    } else if (channel.eventLoop().inEventLoop()) {
      cut(channel);
    } else {
      channel.eventLoop().execute(() -> cut(channel));
    }
  }

  private static void cut(Channel channel) {
    ChannelHandlerContext first = channel.pipeline().firstContext(); // null once it has been closed
    if (first != null) {
      first.close(); // past the HTTP/2 handler, which is behind it
    }
  }

  private static Channel channel(HttpConnection connection) {
    Channel channel = NettyParts.channel(connection);
    return channel != null && channel.eventLoop().inEventLoop() ? channel : null;
  }

  /**
   * Takes over the DATA of an open stream: its content goes to the sink instead of Vert.x, which sees only its end.
   * Nothing of it may have been read yet.
   *
   * @param owner loop of the connection's thread, on which the stream is used
   * @param queueBytes that may wait to be sent before the writer must hold back
   * @return null if there is no such stream (any more), or the owner is of another event loop
   */
  public DataStream open(VertxLoop owner, int streamId, int queueBytes, DataSink sink) {
    Http2Stream stream = http2.connection().stream(streamId);
    return stream == null || !owner.context().isEventLoopContext() || owner.netty() != context.channel().eventLoop() ? null
        : new DataStream(owner, queueBytes, connection, context, http2, tap, stream, sink);
  }
}
