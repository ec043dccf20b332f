package io.regatta.node.admin;

import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.regatta.node.address.HostPort;
import io.regatta.node.address.PublishedAddress;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Future;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A node's view of itself for people and monitoring: metrics, waits, hosted services, health, and the admin server that
 * shows them. It exists before the node has a Vertx or a cluster, so that a process that waits for its seed can report
 * that. Owned by its {@link io.regatta.node.Node}, or by the start until there is one; thread-safe.
 */
public final class ProcessDiagnostics {

  private static final Logger LOG = LoggerFactory.getLogger(ProcessDiagnostics.class);

  private final AdminConfig config;
  private final PeerSecurity security;
  private final String configuredHost;
  private final String configuredBind;
  private final String role;
  private final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final SampleFamilies families = new SampleFamilies();
  private final Waits waits;
  private final Hosted hosted = new Hosted();
  private final ProcessHealth health;
  private volatile AdminServer admin;
  /** Null: there is no admin server. */
  private volatile HostPort endpoint;

  /**
   * Creates the diagnostics; no port is open yet.
   *
   * @param security TLS and token of the process
   * @param host of the node, as configured; blank: the address chosen for the cluster
   * @param bind address on which services listen, as configured; blank: the host
   * @param longWaitSeconds after which a wait is logged, s
   * @param role what this process is, for messages
   */
  public ProcessDiagnostics(AdminConfig config, PeerSecurity security, String host, String bind, int longWaitSeconds,
      String role) {
    this.config = config;
    this.security = security;
    this.configuredHost = host;
    this.configuredBind = bind;
    this.role = role;
    this.waits = new Waits(SystemClock.get(), longWaitSeconds);
    metrics.getPrometheusRegistry().register(families);
    this.health = new ProcessHealth(hosted, config.healthTimeoutMs());
  }

  /** Returns the node's own registry; {@code /metrics} shows it. */
  public PrometheusMeterRegistry metrics() {
    return metrics;
  }

  /** Returns the metrics of many samples each, which {@code /metrics} shows, too. */
  public SampleFamilies families() {
    return families;
  }

  public Waits waits() {
    return waits;
  }

  /** Returns the services of this process. */
  public Hosted hosted() {
    return hosted;
  }

  /** Returns TLS and token of the process. */
  public PeerSecurity security() {
    return security;
  }

  ProcessHealth health() {
    return health;
  }

  /** Returns the answers to schedulers' probes, for a service that answers them at its own port. */
  public Probes probes() {
    return new Probes(this);
  }

  /**
   * Sets the directory that {@code /health} checks from now on.
   *
   * @param reachable asks the directory; fails if it does not answer
   */
  public void directory(Supplier<Future<Void>> reachable) {
    health.directory(reachable);
  }

  /** Returns the role of this process, for messages. */
  public String role() {
    return role;
  }

  /**
   * Opens the admin server if the configuration wants one. Blocks for as long as listening takes: never on an event
   * loop.
   *
   * @param address the address chosen for the cluster, where the configuration names no host
   * @return the node's host
   * @throws io.regatta.core.error.RegattaException.InvalidInput if a host is none of this machine, or the port is taken
   */
  public String open(String address) {
    String bind = configuredBind.isBlank() ? "" : PublishedAddress.bindable("node.bind", configuredBind);
    String host = configuredHost.isBlank() ? address
        : bind.isEmpty() ? PublishedAddress.bindable("node.host", configuredHost) : configuredHost;
    new JvmMemoryMetrics().bindTo(metrics);
    new JvmThreadMetrics().bindTo(metrics);
    new ProcessorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    if (config.enabled()) {
      String adminHost = config.host().isBlank() ? bind.isEmpty() ? host : bind
          : PublishedAddress.bindable("node.admin.host", config.host());
      admin = Blocking.get(AdminServer.start(adminHost, config.port(), this));
      endpoint = new HostPort(adminHost, port());
      LOG.info("{} answers /health, /ready, /why and /metrics at {}://{}", role, security.hasTls() ? "https" : "http", endpoint);
    }
    return host;
  }

  /** Returns the port of the admin server, -1 if there is none. */
  public int port() {
    AdminServer server = admin;
    return server == null ? -1 : server.port();
  }

  /** Returns the address of the admin server, null if there is none. */
  public HostPort endpoint() {
    return endpoint;
  }

  /** Ends the admin server; bound to no context. */
  public Future<Void> closeAdmin() {
    AdminServer server = admin;
    return server == null ? Future.succeededFuture() : server.close();
  }

  /** Ends everything; bound to no context. */
  public Future<Void> close() {
    return closeAdmin().onComplete(closed -> metrics.close());
  }
}
