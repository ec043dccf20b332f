package io.regatta.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Clock;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.admin.Hosted;
import io.regatta.node.admin.Probes;
import io.regatta.node.admin.ProcessDiagnostics;
import io.regatta.node.admin.SampleFamilies;
import io.regatta.node.admin.Waits;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusterConfig.DirectoryKind;
import io.regatta.node.cluster.ClusterConfig.MemberKind;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory;
import io.regatta.node.directory.FixedDirectory;
import io.regatta.node.directory.HazelcastDirectory;
import io.regatta.node.directory.WaitingDirectory;
import io.regatta.node.member.VertxMember;
import io.regatta.node.process.Proxies;
import io.regatta.protocol.Network;
import io.regatta.protocol.VertxNetwork;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Closeable;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.internal.VertxInternal;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What every process does alike: a Vertx, a directory, metrics, waits and the admin server, started together and
 * closed in order. Verticles get a node in their constructor and take from it what they need. Owned by whoever
 * started it; thread-safe. It closes only what it created: an embedded node never closes the user's Vertx.
 */
public final class Node {

  private static final Logger LOG = LoggerFactory.getLogger(Node.class);
  private static final String LOOPBACK = "127.0.0.1";
  /** The role of who serves nobody. */
  private static final String CLIENT = "client";
  private static final long LONG_WAIT_CHECK_MILLIS = 1000;
  private static final int CONNECTIONS_PER_READY_TIMEOUT = 4;
  private static final long LEAST_CONNECT_MILLIS = 1000;

  private final NodeConfig config;
  private final Vertx vertx;
  private final boolean ownsVertx;
  private final Directory directory;
  private final boolean ownsDirectory;
  private final String host;
  private final ProcessDiagnostics diagnostics;
  private final long longWaitTimer;
  private final NodeSecurity security;
  private final Set<Start> starting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Promise<Void> closed = Promise.promise();

  /** @param member address of the Hazelcast member that this node has started; empty: none */
  private Node(NodeConfig config, Vertx vertx, boolean ownsVertx, Directory directory, String host, String member,
      ProcessDiagnostics diagnostics) {
    this.config = config;
    this.vertx = vertx;
    this.ownsVertx = ownsVertx;
    this.ownsDirectory = directory == null;
    this.directory = directory != null ? directory
        : config.cluster().directory() == DirectoryKind.FIXED
            ? new FixedDirectory(vertx, diagnostics.waits(), config.cluster().endpoints())
            : new HazelcastDirectory(vertx, diagnostics.waits(), config.cluster().leaseSeconds(), diagnostics.security());
    this.host = host;
    this.diagnostics = diagnostics;
    diagnostics.directory(this.directory::reachable);
    this.longWaitTimer = vertx.setPeriodic(LONG_WAIT_CHECK_MILLIS,
        id -> diagnostics.waits().logLong(clock().epochMillis())
            .onFailure(e -> LOG.warn("{}: cannot list the waits: {}", role(), e.toString())));
    Proxies.log();
    this.security = new NodeSecurity(diagnostics.security(), vertx, config.tls().pollMs(),
        config.hasTokenFile() ? config.security().tokenPollMs() : 0, role());
    security.sayWhoMayCall(role(), new ListenAddresses(role().equals(CLIENT) ? "" : bind(),
        diagnostics.endpoint() == null ? "" : diagnostics.endpoint().host(), member));
  }

  /**
   * Starts a node of its own: admin server, Vertx (clustered unless the directory is fixed), directory. The admin
   * server answers while the cluster is still being joined: {@code /why} says for whom this process waits then,
   * {@code /ready} is DOWN.
   *
   * @param role what this process is, for messages; {@code trainer} and {@code client} join as lite members
   */
  public static Future<Node> start(NodeConfig config, String role) {
    return begin(config, role).future();
  }

  /** A node that is starting and can be given up meanwhile. Any thread. */
  public static final class Starting {
    private final Promise<Node> promise = Promise.promise();
    private volatile ClusteredVertx joining;

    /** Completes with the node, or fails with what kept it from starting. */
    public Future<Node> future() {
      return promise.future();
    }

    /** Gives the start up, and closes the node if it came first. Never fails. */
    public Future<Void> close() {
      cancel();
      return promise.future().compose(Node::close).recover(notStarted -> Future.succeededFuture());
    }

    /** Ends the start; its future fails, or the node came first and is the caller's to close. */
    public void cancel() {
      if (joining != null) {
        joining.cancel();
      }
    }
  }

  private static ProcessDiagnostics diagnostics(NodeConfig config, String role) {
    return new ProcessDiagnostics(config.admin(), config.peerSecurity(), config.host(), config.bind(), config.longWaitSeconds(),
        role);
  }

  /**
   * Opens the admin server, unless this process would be open to everybody. Returns the node's host. Blocking.
   *
   * @param member address of the Hazelcast member that this node starts; empty: none
   */
  private static String open(NodeConfig config, ProcessDiagnostics diagnostics, String address, String member) {
    NodeSecurity.refuseOpenPorts(config, diagnostics.role(), addresses(config, diagnostics.role(), address, member));
    return diagnostics.open(address);
  }

  /**
   * Refuses a configuration with which a process would be open to everybody, see {@link SecurityConfig#open}.
   *
   * @param address the address chosen for the cluster: that of the Hazelcast member, if there is one, and of what the
   *     configuration gives no host
   * @throws InvalidInput one line that says what to configure
   */
  public static void refuseOpenPorts(NodeConfig config, String role, String address) {
    String member = config.cluster().directory() == DirectoryKind.FIXED ? "" : address;
    NodeSecurity.refuseOpenPorts(config, role, addresses(config, role, address, member));
  }

  /** Returns all addresses on which a node listens; a client has no service. */
  private static ListenAddresses addresses(NodeConfig config, String role, String address, String member) {
    String bind = config.bind().isBlank() ? host(config, address) : config.bind();
    String admin = config.admin().host().isBlank() ? bind : config.admin().host();
    return new ListenAddresses(role.equals(CLIENT) ? "" : bind, config.admin().enabled() ? admin : "", member);
  }

  /** As {@link #start}, for callers that may have to stop while the cluster is still being joined. */
  public static Starting begin(NodeConfig config, String role) {
    Starting starting = new Starting();
    ProcessDiagnostics diagnostics;
    try {
      diagnostics = diagnostics(config, role);
    } catch (RegattaException e) {
      starting.promise.fail(e);
      return starting;
    }
    MeterRegistry vertxMetrics = config.vertxMetrics() ? diagnostics.metrics() : null;
    Future<Node> node;
    if (config.cluster().directory() == DirectoryKind.FIXED) {
      node = local(config, role, vertxMetrics, diagnostics);
    } else {
      MemberKind kind = config.cluster().member();
      boolean lite = kind == MemberKind.LITE
          || kind == MemberKind.AUTO && (role.startsWith(Directory.TRAINER) || role.equals(CLIENT));
      Hosted.Service join = diagnostics.hosted().starting("cluster " + config.cluster().name());
      join.lacks("is being joined");
      starting.joining = ClusteredVertx.begin(new ClusteredVertx.Joining(config.cluster(),
          config.readyTimeout(), config.eventLoops(), vertxMetrics, lite, diagnostics.security(), role), diagnostics.waits(),
          address -> open(config, diagnostics, address, address));
      node = starting.joining.future().map(joined -> {
        join.stopped();
        joined.lost().onSuccess(stopped -> lost(config, role, diagnostics));
        return new Node(config, joined.vertx(), true, null, host(config, joined.address()), joined.address(),
            diagnostics);
      });
    }
    closingOnFailure(node, diagnostics::close).onComplete(starting.promise);
    return starting;
  }

  /** Nobody finds this process any more, and it finds nobody: it serves whom it has, and says that it is not ready. */
  private static void lost(NodeConfig config, String role, ProcessDiagnostics diagnostics) {
    PeerLost why = new PeerLost("its Hazelcast member has stopped: start this process again");
    LOG.error("{} is no longer in cluster {}: {}", role, config.cluster().name(), why.getMessage());
    diagnostics.hosted().starting("cluster " + config.cluster().name()).failed(why);
  }

  /** Bound to no context: the failure must come through although the Vertx is closed by then. */
  private static <T> Future<T> closingOnFailure(Future<T> start, Supplier<Future<Void>> close) {
    Promise<T> promise = Promise.promise();
    start.onComplete(result -> {
      if (result.succeeded()) {
        promise.complete(result.result());
      } else {
        close.get().onComplete(closed -> promise.fail(result.cause()));
      }
    });
    return promise.future();
  }

  private static Future<Node> local(NodeConfig config, String role, MeterRegistry metrics, ProcessDiagnostics diagnostics) {
    return onThread(() -> open(config, diagnostics, fixedAddress(config, role), ""))
        .map(host -> new Node(config, ClusteredVertx.local(config.eventLoops(), metrics), true, null, host, "",
            diagnostics));
  }

  /**
   * The address of a process that finds the others by fixed endpoints: the interface that routes to where they meet, unless it
   * has a host of its own. A client has nobody who would reach it. Blocking.
   */
  private static String fixedAddress(NodeConfig config, String role) {
    ClusterConfig cluster = config.cluster();
    if (!config.host().isBlank() && !role.equals(CLIENT)) {
      LOG.info("peers reach this process at {}: it is its own host (node.host)", config.host());
    }
    return config.host().isBlank() && !role.equals(CLIENT) && cluster.meetingPlace() != null
        ? PublishedAddress.toward(cluster.address(), cluster.meetingPlace()).address()
        : PublishedAddress.choose(cluster.address(), cluster.seedMembers()).address();
  }

  /** On a thread of its own: it blocks, and the admin server's Vertx is not made on a context of another. */
  private static <T> Future<T> onThread(Callable<T> start) {
    Promise<T> promise = Promise.promise();
    Thread thread = new Thread(() -> {
      try {
        promise.complete(start.call());
      } catch (Exception | Error e) {
        promise.fail(e);
      }
    }, "regatta-start");
    thread.setDaemon(true);
    thread.start();
    return promise.future();
  }

  private static String host(NodeConfig config, String address) {
    return config.host().isBlank() ? address : config.host();
  }

  /**
   * A node inside a user's Vertx, clustered or not, without an admin server. Closing it leaves the Vertx and the
   * directory as they are. Services bind to and announce the address of the Vertx's Hazelcast member, or loopback.
   *
   * @throws InvalidInput if that is not a loopback address: then {@link #embedded(Vertx, Directory, NodeConfig,
   *     String)} with a
   *     token, mutual TLS or {@code node.security.open} is required
   */
  public static Node embedded(Vertx vertx, Directory directory, String role) {
    NodeConfig config = NodeConfig.defaults();
    ProcessDiagnostics diagnostics = diagnostics(config, role);
    NodeSecurity.refuseOpenPorts(config, role, new ListenAddresses(address(vertx), "", ""));
    return new Node(config, vertx, false, directory, address(vertx), "", diagnostics);
  }

  /**
   * A node inside a user's Vertx with its own settings and, if enabled, its own admin server, which ends with the node
   * or with the Vertx. Where the settings name no host, it is that of {@link #embedded(Vertx, Directory, String)}.
   *
   * @param directory null: the node makes, and closes, the one that the configuration describes, over this Vertx
   */
  public static Future<Node> embedded(Vertx vertx, Directory directory, NodeConfig config, String role) {
    ProcessDiagnostics diagnostics;
    try {
      diagnostics = diagnostics(config, role);
    } catch (RegattaException e) {
      return Future.failedFuture(e);
    }
    return closingOnFailure(onThread(() -> {
      boolean fixed = config.cluster().directory() == DirectoryKind.FIXED && VertxMember.address(vertx).isEmpty();
      String host = open(config, diagnostics, fixed ? fixedAddress(config, role) : address(vertx), "");
      Node node = new Node(config, vertx, false, directory, host, "", diagnostics);
      Closeable end = done -> diagnostics.close().onComplete(done);
      ((VertxInternal) vertx).addCloseHook(end);
      node.closed.future().onComplete(closed -> ((VertxInternal) vertx).removeCloseHook(end));
      return node;
    }), diagnostics::close);
  }

  private static String address(Vertx vertx) {
    return VertxMember.address(vertx).orElse(LOOPBACK);
  }

  /** Deploys a verticle on this node's Vertx; one that still starts when the node is closed is given up. */
  public Future<String> deploy(Deployable verticle) {
    Start start = new Start(verticle);
    starting.add(start);
    return vertx.deployVerticle(start).onComplete(started -> {
      starting.remove(start);
      start.ended();
    });
  }

  public NodeConfig config() {
    return config;
  }

  /** What this process is, for messages. */
  public String role() {
    return diagnostics.role();
  }

  public Vertx vertx() {
    return vertx;
  }

  /** Returns the clock of this process. */
  public Clock clock() {
    return SystemClock.get();
  }

  public Directory directory() {
    return directory;
  }

  /** The address that services announce. */
  public String host() {
    return host;
  }

  /** The address that services bind to. */
  public String bind() {
    return config.bind().isBlank() ? host : config.bind();
  }

  /**
   * Refuses a host on which a service of this node would be open to everybody, see {@link SecurityConfig#open}.
   *
   * @throws InvalidInput one line that says what to configure
   */
  public void refuseOpenPort(String bind) {
    NodeSecurity.refuseOpenPorts(config, role(), new ListenAddresses(bind, "", ""));
  }

  /** TLS and token, with which this process serves and calls. */
  public PeerSecurity security() {
    return security.peers();
  }

  /** Sizes and limits of streams, with this process's TLS and token. */
  public StreamOptions streams(StreamOptions options) {
    return options.withSecurity(security());
  }

  /**
   * What control calls to other processes are made with. A connection may take a quarter of the ready timeout, and 1 s at least: a call
   * that waits for a peer tries several.
   */
  public StreamOptions control() {
    StreamOptions options = StreamOptions.defaults();
    long quarter = config.readyTimeout().toMillis() / CONNECTIONS_PER_READY_TIMEOUT;
    return streams(options.withConnectTimeout((int) Math.max(LEAST_CONNECT_MILLIS, Math.min(quarter, options.connectTimeoutMillis()))));
  }

  /** Returns the network of control calls to other processes; see {@link #control}. */
  public Network network() {
    return new VertxNetwork(vertx, control());
  }

  /** Returns the metrics of many samples each, which {@code /metrics} shows beside the registry's. */
  public SampleFamilies families() {
    return diagnostics.families();
  }

  /** This node's own registry; {@code /metrics} shows it. */
  public MeterRegistry metrics() {
    return diagnostics.metrics();
  }

  public Waits waits() {
    return diagnostics.waits();
  }

  /**
   * Says that a service of this process is starting: {@code /ready} is DOWN until it serves, and {@code /health} looks
   * at the event loop of the calling context. Called by a verticle's {@code start()}.
   *
   * @param name unique in this process, e.g. {@code parameter-server 0}
   */
  public Hosted.Service starting(String name) {
    return diagnostics.hosted().starting(name);
  }

  /** What schedulers ask, for a service that answers it at its own port as well. */
  public Probes probes() {
    return diagnostics.probes();
  }

  /** Port of the admin server, -1 if there is none. */
  public int adminPort() {
    return diagnostics.port();
  }

  /**
   * Ends the waits for other services, whose callers fail with
   * {@link io.regatta.core.error.RegattaException.Cancelled}: the first thing of an ordered end, so that nobody asks for
   * services to be started while these are being stopped. {@link #close} does it too. Any thread.
   */
  public void endWaits() {
    if (directory instanceof WaitingDirectory own && ownsDirectory) {
      own.stopWaiting();
    }
  }

  /**
   * Closes what the node created, in order: waits for others end, verticles of an own Vertx, and those that still start, stop while the
   * network still works, registrations go, the cluster is left. A later call returns the same future.
   */
  public Future<Void> close() {
    if (!closing.compareAndSet(false, true)) {
      return closed.future();
    }
    vertx.cancelTimer(longWaitTimer);
    security.close();
    endWaits();
    diagnostics.closeAdmin()
        .transform(done -> Future.join(starting.stream().map(Start::cancel).toList()))
        .transform(done -> undeployOwn())
        .transform(done -> ownsDirectory ? directory.close() : Future.succeededFuture())
        .transform(done -> Future.join(starting.stream().map(Start::giveUp).toList()))
        .onComplete(done -> closeVertx());
    return closed.future();
  }

  /** Last, and not part of the chain above: a future bound to a loop of this Vertx could not complete any more. */
  private void closeVertx() {
    diagnostics.metrics().close();
    if (ownsVertx) {
      vertx.close().onComplete(closed);
    } else {
      closed.complete();
    }
  }

  private Future<Void> undeployOwn() {
    if (!ownsVertx) {
      return Future.succeededFuture();
    }
    return Future.join(vertx.deploymentIDs().stream().map(vertx::undeploy).toList()).mapEmpty();
  }
}
