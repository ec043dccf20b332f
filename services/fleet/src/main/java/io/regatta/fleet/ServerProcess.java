package io.regatta.fleet;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Directory;
import io.regatta.node.HostPort;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.JobConfig;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;

/** One service in this process, as {@link Fleet#runServer} runs it: its node and its verticle. Any thread. */
final class ServerProcess {

  private final Promise<Void> ended = Promise.promise();
  private final Node.Starting node;

  private ServerProcess(FleetConfig config, NodeConfig nodeConfig, JobConfig job) {
    node = Node.begin(nodeConfig, service(config.role()));
    node.future().compose(n -> n.deploy(verticle(config, n, job))).onFailure(ended::tryFail);
  }

  static ServerProcess start(FleetConfig config, NodeConfig node, JobConfig job) {
    return new ServerProcess(config, node, job);
  }

  /** Completes when the service was closed, fails when it could not start. */
  Future<Void> ended() {
    return ended.future();
  }

  Future<Void> close() {
    return node.close().onComplete(v -> ended.tryComplete());
  }

  private static String service(Role role) {
    return switch (role) {
      case PSERVER -> Directory.PARAMETER_SERVER;
      case AGGREGATOR -> Directory.GRADIENT_AGGREGATOR;
      case RENDEZVOUS -> Directory.RENDEZVOUS;
      case LOCAL, TRAINER -> throw new InvalidInput("runServer: this process is a "
          + role.name().toLowerCase(java.util.Locale.ROOT) + ", not a server; call train or initWorker");
    };
  }

  private static Deployable verticle(FleetConfig config, Node node, JobConfig job) {
    return switch (config.role()) {
      case PSERVER -> new ParameterServerVerticle(node, Settings.bind(server(config, job), ParameterServerConfig.class));
      case AGGREGATOR -> new AggregatorVerticle(node, Settings.defaults(AggregatorConfig.class));
      default -> new RendezvousVerticle(node, Settings.bind(
          new JsonObject().put("port", port(config.rendezvousEndpoint())), RendezvousConfig.class));
    };
  }

  private static JsonObject server(FleetConfig config, JobConfig job) {
    JsonObject server = new JsonObject().put("index", config.id());
    if (job != null) {
      server.put("servers", job.servers()).put("shards", job.shards());
    }
    if (!config.serverEndpoints().isEmpty()) {
      server.put("servers", config.serverEndpoints().size())
          .put("port", port(config.serverEndpoints().get(config.id())));
    }
    return server;
  }

  /** The port of a fixed endpoint; 0, any, where there is none. */
  private static int port(String endpoint) {
    return endpoint.isEmpty() ? 0 : HostPort.parse(endpoint, 0, "fleet endpoints").port();
  }
}
