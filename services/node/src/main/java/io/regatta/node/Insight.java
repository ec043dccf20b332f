package io.regatta.node;

import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.vertx.core.Future;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node shows of itself: metrics, waits, hosted services, health, and the admin server that answers for them. It
 * is there before the node has a Vertx or a cluster, so that a process that waits for its seed can say so. Owned by its
 * {@link Node}, or by the start as long as there is none; thread-safe.
 */
final class Insight {

  private static final Logger LOG = LoggerFactory.getLogger(Insight.class);

  private final NodeConfig config;
  private final String role;
  private final PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
  private final Waits waits;
  private final Hosted hosted = new Hosted();
  private final Health health;
  private volatile AdminServer admin;

  Insight(NodeConfig config, String role) {
    this.config = config;
    this.role = role;
    this.waits = new Waits(config.longWaitSeconds());
    this.health = new Health(hosted, config.admin().healthTimeoutMs());
  }

  PrometheusMeterRegistry metrics() {
    return metrics;
  }

  Waits waits() {
    return waits;
  }

  Hosted hosted() {
    return hosted;
  }

  Health health() {
    return health;
  }

  String role() {
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
  String open(String address) {
    String host = config.host().isBlank() ? address : PublishedAddress.bindable("node.host", config.host());
    new JvmMemoryMetrics().bindTo(metrics);
    new JvmThreadMetrics().bindTo(metrics);
    new ProcessorMetrics().bindTo(metrics);
    new UptimeMetrics().bindTo(metrics);
    if (config.admin().enabled()) {
      String adminHost = config.admin().host().isBlank() ? host
          : PublishedAddress.bindable("node.admin.host", config.admin().host());
      admin = Blocking.get(AdminServer.start(adminHost, config.admin().port(), this));
      LOG.info("{} answers /health, /ready, /why and /metrics at http://{}", role, new HostPort(adminHost, port()));
    }
    return host;
  }

  /** Port of the admin server, -1 if there is none. */
  int port() {
    AdminServer server = admin;
    return server == null ? -1 : server.port();
  }

  /** Ends the admin server; bound to no context. */
  Future<Void> closeAdmin() {
    AdminServer server = admin;
    return server == null ? Future.succeededFuture() : server.close();
  }

  /** Ends everything; bound to no context. */
  Future<Void> close() {
    return closeAdmin().onComplete(closed -> metrics.close());
  }
}
