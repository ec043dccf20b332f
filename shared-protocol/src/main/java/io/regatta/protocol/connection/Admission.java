package io.regatta.protocol.connection;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.AttributeKey;
import io.netty.util.ReferenceCountUtil;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.protocol.vertx.NettyParts;
import io.vertx.core.http.HttpConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * The admission of an accepted connection, until it authenticates: limits its time, bytes and calls, and closes it if
 * it exceeds one. First handler of its channel, and removed once it has authenticated. Owned by the connection's event
 * loop, except where a method says otherwise.
 */
public final class Admission extends ChannelDuplexHandler {
  private static final AttributeKey<Admission> KEY = AttributeKey.valueOf(Admission.class, "admission");
  /** Name of Vert.x's idle time-out in a pipeline. */
  private static final String IDLE = "idle";
  /** Time for answers that are under way to arrive before the connection is cut. */
  private static final int CLOSE_SECONDS = 1;

  private final ConnectionLimiter limiter;
  private final Channel channel;
  private final InetAddress address;
  private Future<?> deadline;
  private long bytes;
  private int calls;
  /** Null before the first call, and of HTTP/1, which has one open call at a time. */
  private OpenCalls open;
  /** Open calls for which the connection may stay without authentication. */
  private int kept;
  /** The connection's idle time-out, which such calls suspend, and what stands after it; null: it is in force. */
  private IdleStateHandler suspended;
  private String afterIdle;
  private boolean ended;
  /** Written by the limiter. */
  volatile boolean admitted;

  /** @param address null on a Unix domain socket */
  Admission(ConnectionLimiter limiter, Channel channel, InetAddress address) {
    this.limiter = limiter;
    this.channel = channel;
    this.address = address;
  }

  /** Returns that of a connection, or null if its server counts none. Any thread. */
  public static Admission of(HttpConnection connection) {
    Channel channel = NettyParts.channel(connection);
    return channel == null ? null : channel.attr(KEY).get();
  }

  void attach() {
    channel.attr(KEY).set(this);
  }

  /** Returns the peer's address. Any thread. */
  InetAddress address() {
    return address;
  }

  /** Returns the port for messages. Any thread. */
  String port() {
    return channel.localAddress() instanceof InetSocketAddress local ? "port " + local.getPort()
        : "the Unix domain socket";
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    awaitAuthentication();
    context.fireChannelActive();
  }

  private void awaitAuthentication() {
    deadline = channel.eventLoop().schedule(this::late, limiter.limits().authenticateMillis(), TimeUnit.MILLISECONDS);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (ended) {
      ReferenceCountUtil.release(message);
      return;
    }
    bytes += message instanceof ByteBuf data ? data.readableBytes() : 0;
    context.fireChannelRead(message); // before the check: the call that authenticates may be in it
    if (!admitted && bytes > ConnectionLimits.UNAUTHENTICATED_BYTES) {
      exceeded("sent more than " + ConnectionLimits.UNAUTHENTICATED_BYTES + " bytes");
    }
  }

  /** Reads no more of a connection that ends; decoders ask for more of it, whatever its settings say. */
  @Override
  public void read(ChannelHandlerContext context) {
    if (!ended) {
      context.read();
    }
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    stopWaiting();
    context.fireChannelInactive();
    stopCounting();
  }

  private void stopCounting() {
    if (open != null) {
      open.end();
      open = null;
    }
  }

  private void stopWaiting() {
    if (deadline != null) {
      deadline.cancel(false);
    }
  }

  /** Notes that the connection has authenticated. Any thread. */
  public void admit() {
    if (!admitted) {
      limiter.admit(this);
      if (channel.eventLoop().inEventLoop()) {
        freed();
      } else {
        channel.eventLoop().execute(this::freed);
      }
    }
  }

  private void freed() {
    stopWaiting();
    stopCounting();
    ChannelHandlerContext http2 = channel.pipeline().context(Http2ConnectionHandler.class);
    if (http2 != null) {
      allowStreams(http2, limiter.streams());
    }
    if (channel.pipeline().context(this) != null) {
      channel.pipeline().remove(this);
    }
    if (limiter.ownsIdleTimeout() && http2 != null && channel.pipeline().get(IdleStateHandler.class) != null) {
      channel.pipeline().remove(IdleStateHandler.class); // streams may be silent for as long as a trainer computes
    }
  }

  /** Allows them at once, since the client need not have seen the first SETTINGS, or ever acknowledge them. */
  private static void allowStreams(ChannelHandlerContext http2, long streams) {
    Http2ConnectionHandler handler = (Http2ConnectionHandler) http2.handler();
    handler.connection().remote().maxActiveStreams((int) Math.min(streams, Integer.MAX_VALUE));
    if (streams > ConnectionLimits.UNAUTHENTICATED_STREAMS) {
      handler.encoder().writeSettings(http2, new Http2Settings().maxConcurrentStreams(streams), http2.newPromise());
      http2.flush();
    }
  }

  /** Counts a call before authentication; returns false if it is one too many, and must not be answered. */
  public boolean mayCall() {
    if (admitted || ended) {
      return !ended;
    }
    Http2ConnectionHandler http2 = open == null ? channel.pipeline().get(Http2ConnectionHandler.class) : null;
    if (http2 != null) {
      open = limiter.count(http2.connection(), this::tooManyOpen);
    }
    if (++calls > ConnectionLimits.UNAUTHENTICATED_CALLS) {
      exceeded("made more than " + ConnectionLimits.UNAUTHENTICATED_CALLS + " calls");
    }
    return !ended;
  }

  /** Closes the connection, unless the call that is one too many authenticates it. */
  private void tooManyOpen() {
    channel.eventLoop().execute(() -> {
      if (!admitted && !ended) {
        exceeded("opened a further call while those of all connections are as many as the port takes");
        cutNow(); // answers under way would need the memory that is short
      }
    });
  }

  /**
   * Lets the connection stay, also if it is idle, until the task that is returned has run. It ends at a deadline if other
   * calls have been open at every moment since the deadline before.
   *
   * @throws Overloaded if the connection is kept by as many calls as it may open, but one: that one can be refused, and
   *     a client whose library holds back calls beyond the limit would wait in silence
   */
  public Runnable keep() {
    if (!admitted && open != null && kept >= ConnectionLimits.UNAUTHENTICATED_STREAMS - 1) {
      throw new Overloaded("this connection has " + kept + " calls open that keep it, as many as it may without the "
          + "job's token; show the token, or use another connection");
    }
    if (kept++ == 0) {
      suspendIdleTimeout();
    }
    boolean[] done = {false};
    return () -> {
      if (!done[0] && --kept == 0) {
        resumeIdleTimeout();
      }
      done[0] = true;
    };
  }

  private void suspendIdleTimeout() {
    ChannelHandlerContext idle = channel.pipeline().context(IdleStateHandler.class);
    List<String> names = channel.pipeline().names();
    int after = idle == null ? names.size() : names.indexOf(idle.name()) + 1;
    if (after < names.size() && channel.pipeline().context(names.get(after)) != null) {
      suspended = channel.pipeline().remove(IdleStateHandler.class);
      afterIdle = names.get(after);
    }
  }

  private void resumeIdleTimeout() {
    IdleStateHandler before = suspended;
    suspended = null;
    boolean ends = admitted && limiter.ownsIdleTimeout(); // streams may be silent for as long as a trainer computes
    if (before != null && !ends && channel.isActive() && channel.pipeline().context(afterIdle) != null) {
      channel.pipeline().addBefore(afterIdle, IDLE, new IdleStateHandler(before.getReaderIdleTimeInMillis(),
          before.getWriterIdleTimeInMillis(), before.getAllIdleTimeInMillis(), TimeUnit.MILLISECONDS));
    }
  }

  private void late() {
    if (admitted || ended) {
      return;
    }
    if (kept > 0 && (open == null || open.fewest() <= kept)) { // else calls that nobody lets end would add up
      if (open != null) {
        open.restart();
      }
      bytes = 0;
      calls = 0;
      awaitAuthentication();
      return;
    }
    NettyParts.shutDown(channel, CLOSE_SECONDS);
    end();
  }

  private void exceeded(String what) {
    if (!ended) {
      limiter.exceeded(this, what);
      end();
    }
  }

  private void end() {
    ended = true;
    channel.config().setAutoRead(false);
    stopWaiting();
    channel.eventLoop().schedule(this::cutNow, CLOSE_SECONDS, TimeUnit.SECONDS);
  }

  /** Closes the connection, which makes room for another one, unless it authenticates before. Any thread. */
  void evict() {
    channel.eventLoop().execute(() -> {
      if (!admitted) {
        cutNow();
      }
    });
  }

  private void cutNow() {
    NettyParts.cut(channel);
  }
}
