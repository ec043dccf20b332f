package io.regatta.load.run;

import io.regatta.load.process.WorkerLoop;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Waits;
import io.regatta.node.directory.FixedDirectory;
import io.regatta.node.settings.StreamConfig;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.Vertx;
import java.util.Map;

/**
 * Parameter servers as they are shipped, of one shard each, without the rest of a cluster. Their directory publishes
 * nothing. There is no rendezvous, which the shard logs once and does without. Stateless.
 */
public final class ParameterServers {

  private static final String ROLE = "load test";

  private ParameterServers() {}

  /** Starts a server on a node of its own, everything but its streams by default; returns its control port. Blocks. */
  public static int start(Vertx vertx, StreamOptions options) throws Exception {
    return start(vertx, options, Node.embedded(vertx, directory(vertx), ROLE));
  }

  /** Starts a server on a node with these settings. */
  public static int start(Vertx vertx, StreamOptions options, NodeConfig config) throws Exception {
    return start(vertx, options, WorkerLoop.await(Node.embedded(vertx, directory(vertx), config, ROLE)));
  }

  private static FixedDirectory directory(Vertx vertx) {
    return new FixedDirectory(vertx, new Waits(), Map.of());
  }

  private static int start(Vertx vertx, StreamOptions options, Node node) throws Exception {
    ParameterServerVerticle server = new ParameterServerVerticle(node,
        ParameterServerConfig.defaults().at(0, 1, 1).withStream(config(options)));
    WorkerLoop.await(vertx.deployVerticle(server));
    return server.port();
  }

  /** Returns the settings of a service whose tensor streams have these options. */
  private static StreamConfig config(StreamOptions o) {
    return StreamConfig.defaults().with(s -> s.chunkBytes(o.chunkBytes()).maxMessageBytes(o.maxMessageBytes())
        .maxRequestBytes(o.maxRequestBytes()).maxRequests(o.maxRequests()).initialWindowBytes(o.initialWindowBytes())
        .connectionWindowBytes(o.connectionWindowBytes()).maxFrameBytes(o.maxFrameBytes()).pingIntervalMs(o.pingIntervalMillis())
        .pingTimeoutMs(o.pingTimeoutMillis()).connectTimeoutMs(o.connectTimeoutMillis()).transport(o.transport()));
  }
}
