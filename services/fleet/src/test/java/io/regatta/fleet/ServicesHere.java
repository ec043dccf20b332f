package io.regatta.fleet;

import static io.regatta.node.testing.Nodes.get;

import io.regatta.core.progress.Progress;
import io.regatta.heterworker.HeterWorkerConfig;
import io.regatta.heterworker.HeterWorkerVerticle;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.settings.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;

/**
 * Services in this JVM, in a Hazelcast cluster that processes join: those of a test that are not killed. They start in
 * no time.
 */
final class ServicesHere implements AutoCloseable {

  private final Node node;
  /** Deployments, in the order of their starts. */
  private final List<Future<String>> deployed = new ArrayList<>();

  private ServicesHere(Node node) {
    this.node = node;
  }

  /**
   * Starts the cluster's first member.
   *
   * @param seed its address, through which processes join
   * @param readySeconds time for which its services wait for others
   */
  static ServicesHere start(String seed, int readySeconds) {
    int port = Integer.parseInt(seed.substring(seed.indexOf(':') + 1));
    JsonObject cluster = new JsonObject().put("seeds", List.of(seed)).put("port", port);
    JsonObject section = new JsonObject().put("cluster", cluster).put("ready_timeout_seconds", readySeconds);
    NodeConfig config = Settings.bind(section, NodeConfig.class);
    return new ServicesHere(get(Node.begin(config, "test").future()));
  }

  private <V extends Deployable> V deploy(V verticle) {
    deployed.add(node.deploy(verticle));
    return verticle;
  }

  /** Starts a rendezvous, and waits until it serves. */
  void rendezvous(JsonObject section) {
    deploy(new RendezvousVerticle(node, Settings.bind(section, RendezvousConfig.class)));
    get(deployed.get(deployed.size() - 1));
  }

  void server(JsonObject section) {
    deploy(new ParameterServerVerticle(node, Settings.bind(section, ParameterServerConfig.class)));
  }

  /** Starts a heter worker; returns its end. */
  Future<String> heterWorker(JsonObject section) {
    return deploy(new HeterWorkerVerticle(node, Settings.bind(section, HeterWorkerConfig.class))).finished();
  }

  /** Starts a trainer; returns its result. */
  Future<RunResult> trainer(JsonObject section, Progress progress) {
    return deploy(new TrainerVerticle(node, Settings.bind(section, TrainerConfig.class), null, progress)).result();
  }

  @Override
  public void close() {
    node.endWaits();
    for (int i = deployed.size() - 1; i >= 0; i--) { // trainers first
      Future<String> deployment = deployed.get(i);
      if (deployment.succeeded()) {
        get(node.vertx().undeploy(deployment.result()).otherwiseEmpty());
      }
    }
    get(node.close());
  }
}
