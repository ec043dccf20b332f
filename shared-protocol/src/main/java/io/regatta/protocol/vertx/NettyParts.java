package io.regatta.protocol.vertx;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.internal.buffer.BufferInternal;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.core.net.impl.KeyStoreHelper;
import io.vertx.core.net.impl.ShutdownEvent;
import java.security.KeyStore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Access to the Netty objects of Vert.x's objects, which its public API does not give. Stateless. */
public final class NettyParts {

  private NettyParts() {}

  /** Returns the bytes of a buffer, which stay its own. */
  public static ByteBuf bytes(Buffer buffer) {
    return ((BufferInternal) buffer).getByteBuf();
  }

  /** Returns a buffer of these bytes, which are not copied. */
  public static Buffer buffer(ByteBuf bytes) {
    return BufferInternal.buffer(bytes);
  }

  /** Returns the channel of a connection; null of one that another library has made. Any thread. */
  public static Channel channel(HttpConnection connection) {
    return connection instanceof ConnectionBase base ? base.channel() : null;
  }

  /** Asks the connection of a channel to end in order: calls under way may be answered for that long. Its event loop. */
  public static void shutDown(Channel channel, int seconds) {
    channel.pipeline().fireUserEventTriggered(new ShutdownEvent(seconds, TimeUnit.SECONDS));
  }

  /**
   * Closes a connection at once, past the handlers that would wait until a last frame or an answer has been taken. Any
   * thread.
   */
  public static void cut(Channel channel) {
    ChannelHandlerContext first = channel.pipeline().firstContext();
    if (first != null) { // null once it has been closed
      first.close();
    }
  }

  /**
   * Returns the certificates of authorities, read as Vert.x reads them for a port: fewer kinds of files than the JDK.
   *
   * @param pem one or more certificates in PEM
   * @throws Exception if they cannot be read; the library declares no narrower one
   */
  public static KeyStore authorities(Buffer pem) throws Exception {
    return KeyStoreHelper.loadCA(Stream.of(pem));
  }
}
