package io.regatta.node.cluster;

import com.hazelcast.cluster.Address;
import com.hazelcast.internal.networking.Channel;
import com.hazelcast.internal.networking.ChannelInitializer;
import com.hazelcast.internal.server.ServerContext;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import io.regatta.protocol.connection.OpenConnections;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.connection.PeerOrigin;
import io.regatta.protocol.security.ConnectFailure;
import io.regatta.protocol.connection.OwnText;
import io.regatta.protocol.security.PeerSecurity;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connections of one Hazelcast member: each gets a {@link SecureChannel}, and little time to be admitted. The
 * number of connections that are not admitted yet is limited. At the limit the oldest one is closed for the new one, so
 * silent strangers keep nobody out. Thread-safe. Has one thread, {@code regatta-member-tls}, for TLS's long
 * computations and for expired time limits; it ends with {@link #close}. Computations of callers take turns by their
 * {@link PeerOrigin}, so a flood of handshakes from one address delays no other one.
 */
final class MemberConnections implements AutoCloseable {

  /** Time of a connection for TLS's handshake, the proof of the token and the first byte of Hazelcast's protocol. */
  static final int ADMISSION_MILLIS = 5000;
  /** Most connections that wait for admission, in all; from one address (of IPv6, one /64) fewer. */
  static final int MOST_WAITING = 256;
  static final int MOST_WAITING_PER_ADDRESS = 128;
  /** TLS's alert of a port that does not speak a member's protocol. */
  private static final String OTHER_APPLICATION = "no_application_protocol";
  private static final Logger LOG = LoggerFactory.getLogger(MemberConnections.class);

  private final PeerSecurity security;
  /** The member that must admit this one; null: any may be missing. */
  private final HostPort required;
  private final ScheduledThreadPoolExecutor executor;
  private final FairTasks computations = new FairTasks();
  private final PeerLog refusals = new PeerLog(LOG);
  private final PeerLog failures = new PeerLog(LOG);
  private final PeerLog timeouts = new PeerLog(LOG);
  private final PeerLog evictions = new PeerLog(LOG);
  /** Connections that have been accepted and are not admitted. */
  private final OpenConnections<SecureChannel> waiting = new OpenConnections<>(MOST_WAITING,
      address -> MOST_WAITING_PER_ADDRESS, MOST_WAITING);
  private volatile ServerContext context;
  private volatile Runnable onRefused = () -> { };
  private volatile boolean joined;
  private volatile String refusal;

  /**
   * Creates the connections of a member that has not started.
   *
   * @param security TLS and token that members need; {@link PeerSecurity#NONE} if anybody may be a member
   * @param required the member that this one joins through; null: it may found its cluster
   */
  MemberConnections(PeerSecurity security, HostPort required) {
    this.security = security;
    this.required = required;
    this.executor = new ScheduledThreadPoolExecutor(1, task -> {
      Thread thread = new Thread(task, "regatta-member-tls");
      thread.setDaemon(true);
      thread.setContextClassLoader(MemberConnections.class.getClassLoader()); // one of Hazelcast's threads may start it
      return thread;
    });
    executor.setRemoveOnCancelPolicy(true);
  }

  /**
   * Sets an action for the case that the required member refuses this one before it has joined. It may run more than
   * once, on any thread, which it must not block.
   */
  void onRefused(Runnable action) {
    onRefused = action;
  }

  /** Notes that this member has joined: from now on a refusal concerns one connection, and not the member. */
  void joined() {
    joined = true;
  }

  /** Returns why the required member, or a seed if none is required, refuses this one for good; null: none does. */
  String refusal() {
    return refusal;
  }

  /** Returns the initializer of connections that lets Hazelcast's own see only what these let pass. */
  ChannelInitializer guard(ServerContext server, ChannelInitializer hazelcast) {
    context = server;
    return channel -> {
      SecureChannel secure = new SecureChannel(this, security, channel, peer(channel));
      Runnable done = track(secure);
      channel.addCloseListener(closed -> done.run());
      channel.inboundPipeline().addLast(secure.inbound());
      hazelcast.initChannel(channel);
      channel.outboundPipeline().addLast(secure.outbound());
    };
  }

  /** Returns host and port that were called, as they were called, or the address of the caller. */
  private static InetSocketAddress peer(Channel channel) {
    return channel.attributeMap().get(Address.class) instanceof Address called
        ? InetSocketAddress.createUnresolved(called.getHost(), called.getPort())
        : (InetSocketAddress) channel.remoteSocketAddress();
  }

  private Runnable track(SecureChannel secure) {
    ScheduledFuture<?> timer = executor.schedule(() -> expire(secure), ADMISSION_MILLIS, TimeUnit.MILLISECONDS);
    if (!secure.channel().isClientMode()) {
      SecureChannel oldest = waiting.arrive(secure, address(secure)).evicted();
      if (oldest != null) {
        evictions.warn("closed a connection of {} to Hazelcast's port for a new one: of too many that have not shown "
            + "that they belong to the job it was the oldest", PeerOrigin.described(address(oldest)));
        oldest.abandon();
        execute(() -> oldest.close("too many connections that are not admitted"));
      }
    }
    return () -> {
      timer.cancel(false);
      waiting.forget(secure);
    };
  }

  private static InetAddress address(SecureChannel secure) {
    return ((InetSocketAddress) secure.channel().remoteSocketAddress()).getAddress();
  }

  private void expire(SecureChannel secure) {
    if (secure.isAdmitted()) {
      return;
    }
    if (!secure.isRefused()) {
      timeouts.warn("closed a connection between {} and {} of Hazelcast: the other side has not shown within {} s that "
          + "it is a member of the job", secure.channel().localSocketAddress(), secure.channel().remoteSocketAddress(),
          ADMISSION_MILLIS / 1000);
    }
    secure.close("not admitted in time");
  }

  /** Notes that a connection is one between members. */
  void admitted(SecureChannel secure) {
    waiting.forget(secure);
  }

  /** Notes that a connection is not one between members of this job, and the reason. */
  void refused(SecureChannel secure, IOException why) {
    if (!secure.channel().isClientMode()) {
      refusals.warn("refused a connection from {} to Hazelcast's port: {}", secure.channel().remoteSocketAddress(),
          why instanceof ConnectionRefused ? new OwnText(why.getMessage()) : why.getMessage());
      return;
    }
    InetSocketAddress peer = peer(secure.channel());
    HostPort called = new HostPort(peer.getHostString(), peer.getPort());
    InvalidInput tls = ConnectFailure.refusal("the Hazelcast member there", why, security);
    String words = String.valueOf(why.getMessage()).contains(OTHER_APPLICATION) ? ConnectionRefused.OTHER_PORT
        : tls == null ? why.getMessage() : tls.getMessage();
    boolean isOwn = tls != null || why instanceof ConnectionRefused || words.equals(ConnectionRefused.OTHER_PORT);
    failures.warn("no connection to the Hazelcast member at {}: {}", called, isOwn ? new OwnText(words) : words);
    if (joined || secure.isAdmitted()) {
      return;
    }
    if (required == null || required.equals(called)) {
      refusal = words;
      onRefused.run();
    }
    if (secure.channel().attributeMap().get(Address.class) instanceof Address address) {
      execute(() -> context.onFailedConnection(address)); // as Hazelcast does it where a connection fails
    }
  }

  /** Runs a long computation of a connection in its turn. A connection that this member makes has a turn of its own. */
  void compute(SecureChannel secure, Runnable computation) {
    computations.add(secure.channel().isClientMode() ? secure : PeerOrigin.of(address(secure)), computation);
    execute(computations::runNext);
  }

  private void execute(Runnable task) {
    try {
      executor.execute(task);
    } catch (RejectedExecutionException e) {
      LOG.debug("the member has stopped", e);
    }
  }

  @Override
  public void close() {
    executor.shutdownNow();
  }
}
