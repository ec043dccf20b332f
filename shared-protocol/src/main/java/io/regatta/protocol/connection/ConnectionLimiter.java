package io.regatta.protocol.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2Connection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limiter of one port's connections: admits as many as {@link OpenConnections} allows, and gives each an
 * {@link Admission}. Stands in the pipeline of the listening channel, before connections are registered.
 */
public final class ConnectionLimiter extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimiter.class);
  private static final String NAME = "regatta-admission";

  private final ConnectionLimits limits;
  private final boolean ownsIdleTimeout;
  private final long streams;
  private final AtomicInteger furtherCalls = new AtomicInteger();
  private final PeerLog evictions = new PeerLog(LOG);
  private final PeerLog refusals = new PeerLog(LOG);
  private final PeerLog excesses = new PeerLog(LOG);
  private final OpenConnections<Admission> connections;

  /**
   * Creates the limiter of one port.
   *
   * @param ownsIdleTimeout the port's idle time-out is for HTTP/1 alone, and ends when an HTTP/2 connection
   * authenticates
   * @param streams that an HTTP/2 connection may have open at a time once it has authenticated
   */
  public ConnectionLimiter(ConnectionLimits limits, boolean ownsIdleTimeout, long streams) {
    this.limits = limits;
    this.connections = new OpenConnections<>(limits.connections(), limits::of, limits.unauthenticated());
    this.ownsIdleTimeout = ownsIdleTimeout;
    this.streams = streams;
  }

  ConnectionLimits limits() {
    return limits;
  }

  boolean ownsIdleTimeout() {
    return ownsIdleTimeout;
  }

  long streams() {
    return streams;
  }

  /** Begins to count the open calls of a connection that has not authenticated. */
  OpenCalls count(Http2Connection connection, Runnable tooMany) {
    return new OpenCalls(connection, furtherCalls, limits.furtherCalls(), tooMany);
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object accepted) {
    Channel channel = (Channel) accepted;
    InetAddress address = channel.remoteAddress() instanceof InetSocketAddress remote ? remote.getAddress() : null;
    Admission admission = new Admission(this, channel, address);
    if (!accept(admission)) {
      channel.unsafe().closeForcibly(); // it has no loop yet
      return;
    }
    admission.attach();
    channel.pipeline().addLast(NAME, admission);
    channel.closeFuture().addListener(closed -> connections.forget(admission));
    context.fireChannelRead(channel);
  }

  private boolean accept(Admission arrived) {
    OpenConnections.Arrival<Admission> arrival = connections.arrive(arrived, arrived.address());
    String origin = PeerOrigin.described(arrived.address());
    OwnText advice = advice(arrival.originIsFull(), arrived.address());
    if (!arrival.accepted()) {
      refusals.warn("refused a connection from {} to {}: {} are open from there and {} in all, and all have "
          + "authenticated; {}", origin, arrived.port(), arrival.ofOrigin(), arrival.open(), advice);
    } else if (arrival.evicted() != null) {
      evictions.warn("closed a connection of {} to {} for a new one of {}: of {} that are open from there and {} in "
          + "all it was the oldest without authentication; {}", PeerOrigin.described(arrival.evicted().address()),
          arrived.port(), origin, arrival.ofOrigin(), arrival.open(), advice);
      arrival.evicted().evict();
    }
    return arrival.accepted();
  }

  private static OwnText advice(boolean originIsFull, InetAddress address) {
    if (!originIsFull) {
      return new OwnText("raise node.connections.max if these are of the job");
    }
    return new OwnText("raise node.connections.max_per_address if these are of the job"
        + (PeerOrigin.isNetwork(address) ? "; all addresses of a /64, such as those of a node's pods, share it"
        : "; all that one address translates, such as the pods of a node, share it"));
  }

  /** Ends the strict limits of a connection that has authenticated. Any thread. */
  void admit(Admission admission) {
    admission.admitted = true;
    connections.authenticated(admission);
  }

  /** Logs that a connection has exceeded its limit before authentication. */
  void exceeded(Admission admission, String what) {
    excesses.warn("closes a connection of {} to {} that has {} without authentication", admission.address(),
        admission.port(), what);
  }
}
