package io.regatta.protocol.security;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts the connections of one port, and gives each an {@link Admission}. If a limit is reached, the oldest connection
 * that has not authenticated makes room for the new one, so slow strangers keep nobody out; if all have authenticated,
 * the new one is refused. Stands in the pipeline of the listening channel, before connections are registered.
 * Connections are accepted on that channel's loop and end on their own, so the counts have a lock.
 */
final class ConnectionLimiter extends ChannelInboundHandlerAdapter {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimiter.class);
  private static final String NAME = "regatta-admission";

  private final ConnectionLimits limits;
  private final boolean ownsIdleTimeout;
  private final PeerLog evictions = new PeerLog(LOG);
  private final PeerLog refusals = new PeerLog(LOG);
  private final PeerLog excesses = new PeerLog(LOG);
  /** Addresses with connections. Guarded by this, as what follows. */
  private final Map<InetAddress, Origin> origins = new HashMap<>();
  /** Connections that have not authenticated, oldest first. */
  private final Set<Admission> unauthenticated = new LinkedHashSet<>();
  private int open;

  /** Connections of one address. */
  private static final class Origin {
    private final Set<Admission> unauthenticated = new LinkedHashSet<>();
    private int open;
  }

  /**
   * @param ownsIdleTimeout the port's idle time-out is for HTTP/1 alone, and ends when an HTTP/2 connection
   * authenticates
   */
  ConnectionLimiter(ConnectionLimits limits, boolean ownsIdleTimeout) {
    this.limits = limits;
    this.ownsIdleTimeout = ownsIdleTimeout;
  }

  ConnectionLimits limits() {
    return limits;
  }

  boolean ownsIdleTimeout() {
    return ownsIdleTimeout;
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
    channel.closeFuture().addListener(closed -> closed(admission));
    context.fireChannelRead(channel);
  }

  private synchronized boolean accept(Admission arrived) {
    InetAddress address = arrived.address(); // null on a Unix domain socket
    Origin from = address == null ? null : origins.computeIfAbsent(address, a -> new Origin());
    boolean fullAddress = from != null && from.open >= limits.of(address);
    if (fullAddress || open >= limits.connections() || unauthenticated.size() >= limits.unauthenticated()) {
      Set<Admission> candidates = fullAddress ? from.unauthenticated : unauthenticated;
      String limit = fullAddress ? "max_per_address" : "max";
      if (candidates.isEmpty()) {
        if (from != null && from.open == 0) {
          origins.remove(address);
        }
        refusals.warn("refused a connection from {} to {}: {} are open from there and {} in all, and all have "
            + "authenticated; raise node.connections.{} if these are of the job", address, arrived.port(),
            from == null ? 0 : from.open, open, limit);
        return false;
      }
      Admission oldest = candidates.iterator().next();
      evictions.warn("closed a connection of {} to {} for a new one: of {} that are open from there and {} in all it "
          + "was the oldest without authentication; raise node.connections.{} if these are of the job",
          oldest.address(), arrived.port(),
          from == null ? 0 : from.open, open, limit);
      forget(oldest);
      oldest.evict();
      from = address == null ? null : origins.computeIfAbsent(address, a -> new Origin());
    }
    open++;
    unauthenticated.add(arrived);
    if (from != null) {
      from.open++;
      from.unauthenticated.add(arrived);
    }
    arrived.counted = true;
    return true;
  }

  /**
   * Ends the strict limits of a connection that has authenticated. One that was to make room, and authenticates before
   * it is closed, stays and counts again: a limit may be exceeded by those few.
   */
  synchronized void admit(Admission admission) {
    admission.admitted = true;
    removeUnauthenticated(admission);
    if (!admission.counted && !admission.closed) {
      admission.counted = true;
      open++;
      if (admission.address() != null) {
        origins.computeIfAbsent(admission.address(), a -> new Origin()).open++;
      }
    }
  }

  private void removeUnauthenticated(Admission admission) {
    unauthenticated.remove(admission);
    Origin from = origins.get(admission.address());
    if (from != null) {
      from.unauthenticated.remove(admission);
    }
  }

  private synchronized void closed(Admission admission) {
    admission.closed = true;
    forget(admission);
  }

  private void forget(Admission admission) {
    if (!admission.counted) {
      return;
    }
    admission.counted = false;
    open--;
    removeUnauthenticated(admission);
    Origin from = origins.get(admission.address());
    if (from != null && --from.open == 0) {
      origins.remove(admission.address());
    }
  }

  /** Says that a connection has exceeded what it may do before it authenticates. */
  void exceeded(Admission admission, String what) {
    excesses.warn("closes a connection of {} to {} that has {} without authentication", admission.address(),
        admission.port(), what);
  }
}
