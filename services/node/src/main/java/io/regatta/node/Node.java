package io.regatta.node;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.node.ClusterConfig.DirectoryKind;
import io.regatta.node.ClusterConfig.MemberKind;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Set;
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
  private static final long LONG_WAIT_CHECK_MILLIS = 1000;

  private final NodeConfig config;
  private final String role;
  private final Vertx vertx;
  private final boolean ownsVertx;
  private final Directory directory;
  private final boolean ownsDirectory;
  private final String host;
  private final PrometheusMeterRegistry metrics;
  private final Waits waits;
  private final Hosted hosted = new Hosted();
  private final long longWaitTimer;
  private final Set<Start> starting = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean closing = new AtomicBoolean();
  private final Promise<Void> closed = Promise.promise();
  private volatile AdminServer admin;

  private Node(NodeConfig config, String role, Vertx vertx, boolean ownsVertx, Directory directory, String host,
      PrometheusMeterRegistry metrics, Waits waits) {
    this.config = config;
    this.role = role;
    this.vertx = vertx;
    this.ownsVertx = ownsVertx;
    this.ownsDirectory = directory == null;
    this.directory = directory != null ? directory
        : config.cluster().directory() == DirectoryKind.FIXED
            ? new FixedDirectory(vertx, waits, config.cluster().endpoints())
            : new HazelcastDirectory(vertx, waits, config.cluster().leaseSeconds());
    this.host = host;
    this.metrics = metrics;
    this.waits = waits;
    this.longWaitTimer = vertx.setPeriodic(LONG_WAIT_CHECK_MILLIS,
        id -> waits.logLong(System.currentTimeMillis())
            .onFailure(e -> LOG.warn("{}: cannot list the waits: {}", role, e.toString())));
  }

  /**
   * Starts a node of its own: Vertx (clustered unless the directory is fixed), directory, admin server.
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

  /** As {@link #start}, for callers that may have to stop while the cluster is still being joined. */
  public static Starting begin(NodeConfig config, String role) {
    Starting starting = new Starting();
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    MeterRegistry vertxMetrics = config.vertxMetrics() ? metrics : null;
    Future<ClusteredVertx.Started> vertx;
    if (config.cluster().directory() == DirectoryKind.FIXED) {
      vertx = local(config, vertxMetrics);
    } else {
      MemberKind kind = config.cluster().member();
      boolean lite = kind == MemberKind.LITE
          || kind == MemberKind.AUTO && (role.startsWith(Directory.TRAINER) || role.equals("client"));
      starting.joining = ClusteredVertx.begin(config, vertxMetrics, lite, role);
      vertx = starting.joining.future();
    }
    vertx.compose(started -> {
      String host = config.host().isBlank() ? started.address() : config.host();
      Node node = new Node(config, role, started.vertx(), true, null, host, metrics,
          new Waits(config.longWaitSeconds()));
      return closingOnFailure(node.open(), node::close);
    }).onComplete(starting.promise);
    return starting;
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

  private static Future<ClusteredVertx.Started> local(NodeConfig config, MeterRegistry metrics) {
    Vertx vertx = ClusteredVertx.local(config.eventLoops(), metrics);
    return closingOnFailure(vertx.executeBlocking(() -> {
      PublishedAddress address = PublishedAddress.choose(config.cluster().address(), config.cluster().seedMembers());
      return new ClusteredVertx.Started(vertx, address.address());
    }), vertx::close);
  }

  /**
   * A node inside a user's Vertx, clustered or not, on loopback and without an admin server. Closing it leaves the
   * Vertx and the directory as they are.
   */
  public static Node embedded(Vertx vertx, Directory directory, String role) {
    return new Node(NodeConfig.defaults(), role, vertx, false, directory, "127.0.0.1",
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), new Waits());
  }

  /**
   * A node inside a user's Vertx with its own settings and, if enabled, its own admin server.
   *
   * @param directory null: the node makes, and closes, the one that the configuration describes, over this Vertx
   */
  public static Future<Node> embedded(Vertx vertx, Directory directory, NodeConfig config, String role) {
    String host = config.host().isBlank() ? "127.0.0.1" : config.host();
    Node node = new Node(config, role, vertx, false, directory, host,
        new PrometheusMeterRegistry(PrometheusConfig.DEFAULT), new Waits(config.longWaitSeconds()));
    return closingOnFailure(node.open(), node::close);
  }

  private Future<Node> open() {
    new JvmMemoryMetrics().bindTo(metrics);
    new JvmThreadMetrics().bindTo(metrics);
    new ProcessorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    if (!config.admin().enabled()) {
      return Future.succeededFuture(this);
    }
    String adminHost = config.admin().host().isBlank() ? host : config.admin().host();
    Health health = new Health(hosted, directory, config.admin().healthTimeoutMs());
    return AdminServer.start(vertx, role, adminHost, config.admin().port(), metrics, waits, health, hosted)
        .map(server -> {
          admin = server;
          return this;
        });
  }

  /** Deploys a verticle on this node's Vertx; one that still starts when the node is closed is given up. */
  public Future<String> deploy(Deployable verticle) {
    Start start = new Start(verticle);
    starting.add(start);
    return vertx.deployVerticle(start).onComplete(started -> starting.remove(start));
  }

  public NodeConfig config() {
    return config;
  }

  /** What this process is, for messages. */
  public String role() {
    return role;
  }

  public Vertx vertx() {
    return vertx;
  }

  public Directory directory() {
    return directory;
  }

  /** The address that services bind to and announce. */
  public String host() {
    return host;
  }

  /** This node's own registry; {@code /metrics} shows it. */
  public MeterRegistry metrics() {
    return metrics;
  }

  public Waits waits() {
    return waits;
  }

  /**
   * Says that a service of this process is starting: {@code /ready} is DOWN until it serves, and {@code /health} looks
   * at the event loop of the calling context. Called by a verticle's {@code start()}.
   *
   * @param name unique in this process, e.g. {@code parameter-server 0}
   */
  public Hosted.Service starting(String name) {
    return hosted.starting(name);
  }

  /** Port of the admin server, -1 if there is none. */
  public int adminPort() {
    AdminServer server = admin;
    return server == null ? -1 : server.port();
  }

  /**
   * Closes what the node created, in order: waits for others end, verticles of an own Vertx stop while the network
   * still works, registrations go, the cluster is left. A later call returns the same future.
   */
  public Future<Void> close() {
    if (!closing.compareAndSet(false, true)) {
      return closed.future();
    }
    vertx.cancelTimer(longWaitTimer);
    AdminServer server = admin;
    Future.<Void>succeededFuture()
        .compose(v -> server == null ? Future.<Void>succeededFuture() : server.close())
        .transform(done -> undeployOwn())
        .transform(done -> ownsDirectory ? directory.close() : Future.succeededFuture())
        .onComplete(done -> closeVertx());
    return closed.future();
  }

  /** Last, and not part of the chain above: a future bound to a loop of this Vertx could not complete any more. */
  private void closeVertx() {
    metrics.close();
    starting.forEach(Start::giveUp);
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
