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
import io.regatta.protocol.network.Network;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.protocol.vertx.VertxInternals;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The common runtime of every process: a Vertx, a directory, metrics, waits and the admin server, started together and
 * closed in order. Verticles get a node in their constructor and take what they need from it. Owned by its creator;
 * thread-safe. It closes only what it created: an embedded node never closes the user's Vertx.
 */
public final class Node {

  private static final Logger LOG = LoggerFactory.getLogger(Node.class);
  private static final String LOOPBACK = "127.0.0.1";
  /** The role of a process that serves nobody. */
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
   * server answers while the cluster is still being joined: until then {@code /why} shows the processes that this one
   * waits for, and {@code /ready} is DOWN.
   *
   * @param role what this process is, for messages; {@code trainer} and {@code client} join as lite members
   */
  public static Future<Node> start(NodeConfig config, String role) {
    return begin(config, role).future();
  }

  /** A node that is starting and can be cancelled meanwhile. Any thread. */
  public static final class Starting {
    private final Promise<Node> promise = Promise.promise();
    private volatile ClusteredVertx joining;

    /** Completes with the node, or fails with what kept it from starting. */
    public Future<Node> future() {
      return promise.future();
    }

    /** Cancels the start, or closes the node if it has started already. Never fails. */
    public Future<Void> close() {
      cancel();
      return promise.future().compose(Node::close).recover(notStarted -> Future.succeededFuture());
    }

    /**
     * Cancels the start: its future fails. If the node has started already, nothing happens and the caller must close
     * it.
     */
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

  /** Begins {@link #start}, for callers that may have to stop while the cluster is still being joined. */
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

  /**
   * Reports that this process has lost its cluster and is not ready any more. No other process finds it, and it finds
   * none; connected peers are still served.
   */
  private static void lost(NodeConfig config, String role, ProcessDiagnostics diagnostics) {
    PeerLost why = new PeerLost("its Hazelcast member has stopped: start this process again");
    LOG.error("{} is no longer in cluster {}: {}", role, config.cluster().name(), why.getMessage());
    diagnostics.hosted().starting("cluster " + config.cluster().name()).failed(why);
  }

  /**
   * Closes what was started if the start fails. Bound to no context: the failure must arrive although the Vertx is
   * closed by then.
   */
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
   * Returns the address of a process that finds the others by fixed endpoints: its configured host, or else the
   * interface that routes to the meeting place. No other process calls a client. Blocking.
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

  /**
   * Runs a start on a thread of its own: it blocks, and the admin server's Vertx must not be created on another Vertx's
   * context.
   */
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
      Runnable unhook = VertxInternals.onClose(vertx, done -> diagnostics.close().onComplete(done));
      node.closed.future().onComplete(closed -> unhook.run());
      return node;
    }), diagnostics::close);
  }

  private static String address(Vertx vertx) {
    return VertxMember.address(vertx).orElse(LOOPBACK);
  }

  /**
   * Deploys a verticle on this node's Vertx. If the node is closed while the verticle starts, the start is cancelled.
   */
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

  /** Returns the role of this process, for messages. */
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

  /** Returns the address that services announce. */
  public String host() {
    return host;
  }

  /** Returns the address that services bind to. */
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

  /**
   * Refuses a host on which a port of a program without a node would be open to everybody.
   *
   * @param role what would listen, for the message
   * @throws InvalidInput one line that says what to configure
   */
  public static void refuseOpenPort(PeerSecurity security, String role, String bind) {
    NodeSecurity.refuseOpenPort(security, role, bind);
  }

  /** Returns TLS and token, with which this process serves and calls. */
  public PeerSecurity security() {
    return security.peers();
  }

  /** Returns sizes and limits of streams, with this process's TLS and token. */
  public StreamOptions streams(StreamOptions options) {
    return options.withSecurity(security());
  }

  /**
   * Returns the options of control calls to other processes. Connecting may take a quarter of the ready timeout, at
   * least 1 s: a call that waits for a peer makes several attempts.
   */
  public StreamOptions control() {
    StreamOptions options = StreamOptions.defaults();
    long quarter = config.readyTimeout().toMillis() / CONNECTIONS_PER_READY_TIMEOUT;
    long millis = Math.max(LEAST_CONNECT_MILLIS, Math.min(quarter, options.connectTimeoutMillis()));
    return streams(options.withConnectTimeoutMillis((int) millis));
  }

  /** Returns the network of control calls to other processes; see {@link #control}. */
  public Network network() {
    return new VertxNetwork(vertx, control());
  }

  /** Returns the metrics of many samples each, which {@code /metrics} shows beside the registry's. */
  public SampleFamilies families() {
    return diagnostics.families();
  }

  /** Returns this node's own registry; {@code /metrics} shows it. */
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

  /** Returns the answers to schedulers' probes, for a service that answers them at its own port as well. */
  public Probes probes() {
    return diagnostics.probes();
  }

  /** Returns the port of the admin server, -1 if there is none. */
  public int adminPort() {
    return diagnostics.port();
  }

  /**
   * Ends the waits for other services; their callers fail with
   * {@link io.regatta.core.error.RegattaException.Cancelled}. This is the first step of an ordered end: while this
   * process's services stop, it asks for no others to be started. {@link #close} does it too. Any thread.
   */
  public void endWaits() {
    if (directory instanceof WaitingDirectory own && ownsDirectory) {
      own.stopWaiting();
    }
  }

  /**
   * Closes what the node created, in order. Waits for others end first; then the verticles of an own Vertx stop, the
   * ones still starting too, while the network still works. Registrations are removed, and the cluster is left last. A
   * later call returns the same future.
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

  /**
   * Closes the Vertx last, and outside the chain above: a future bound to a loop of this Vertx could not complete any
   * more.
   */
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
