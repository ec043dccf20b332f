package io.regatta.protocol.vertx;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.impl.HttpServerImpl;
import io.vertx.core.internal.VertxInternal;
import io.vertx.core.internal.VertxWrapper;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.SocketAddress;
import io.vertx.core.net.impl.NetServerImpl;
import io.vertx.core.net.impl.NetServerInternal;
import io.vertx.core.spi.transport.Transport;
import java.util.function.Supplier;

/**
 * A Vertx whose HTTP servers have a handler of ours in the pipeline of the listening channel. Vert.x shows a connection
 * to its user after the TLS handshake and the first bytes, and an HTTP/1 connection after its first whole head. That is
 * too late to count it, or to bound its time. Everything else is the Vertx that it stands for.
 */
public final class LimitedVertx extends VertxWrapper {
  private final Transport transport;

  private LimitedVertx(VertxInternal vertx, Supplier<ChannelHandler> accepting) {
    super(vertx);
    transport = new Accepting(vertx.transport(), accepting);
  }

  /**
   * Creates a server whose accepted connections are seen before Vert.x sees them. Its caller adds TLS and the token.
   *
   * @param accepting makes the handler of a listening channel, which sees each channel that is accepted
   */
  public static HttpServer server(Vertx vertx, HttpServerOptions options, Supplier<ChannelHandler> accepting) {
    return new HttpServerImpl(new LimitedVertx((VertxInternal) vertx, accepting), options);
  }

  @Override
  public NetServerInternal createNetServer(NetServerOptions options) {
    return new NetServerImpl(this, options.copy());
  }

  @Override
  public Transport transport() {
    return transport;
  }

  /** The transport of the Vertx, which gives a server's bootstrap our handler. */
  private static final class Accepting implements Transport {
    private final Transport of;
    private final Supplier<ChannelHandler> accepting;

    private Accepting(Transport of, Supplier<ChannelHandler> accepting) {
      this.of = of;
      this.accepting = accepting;
    }

    @Override
    public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
      of.configure(options, domainSocket, bootstrap);
      bootstrap.handler(accepting.get());
    }

    @Override
    public boolean supportsDomainSockets() {
      return of.supportsDomainSockets();
    }

    @Override
    public boolean supportFileRegion() {
      return of.supportFileRegion();
    }

    @Override
    public java.net.SocketAddress convert(SocketAddress address) {
      return of.convert(address);
    }

    @Override
    public SocketAddress convert(java.net.SocketAddress address) {
      return of.convert(address);
    }

    @Override
    public IoHandlerFactory ioHandlerFactory() {
      return of.ioHandlerFactory();
    }

    @Override
    public DatagramChannel datagramChannel() {
      return of.datagramChannel();
    }

    @Override
    public DatagramChannel datagramChannel(InternetProtocolFamily family) {
      return of.datagramChannel(family);
    }

    @Override
    public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
      return of.channelFactory(domainSocket);
    }

    @Override
    public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
      return of.serverChannelFactory(domainSocket);
    }
  }
}
