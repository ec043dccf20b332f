package io.regatta.fleet;

import io.regatta.node.Node;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.ParameterServerControl;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The services of a job that a trainer's process hosts beside the trainer. They serve the other trainers, too, so they do not end
 * before these have left. Any thread.
 */
final class HostedServices {
  private static final Logger LOG = LoggerFactory.getLogger(HostedServices.class);

  private static final long POLL_MILLIS = 50;

  private final RendezvousConfig rendezvousConfig;
  private final ParameterServerConfig serverConfig;
  private final String job;
  /** Null until they serve, or if they are elsewhere. */
  private volatile RendezvousVerticle rendezvous;
  private volatile ParameterServerVerticle server;
  private volatile Node node;

  /**
   * @param rendezvous null: it is elsewhere
   * @param server null: it is elsewhere, or the job has none
   * @param job its name
   */
  HostedServices(RendezvousConfig rendezvous, ParameterServerConfig server, String job) {
    this.rendezvousConfig = rendezvous;
    this.serverConfig = server;
    this.job = job;
  }

  /** Completes with the node when they serve; called once. */
  Future<Node> start(Node on) {
    node = on;
    Future<?> first = Future.succeededFuture();
    if (rendezvousConfig != null) {
      RendezvousVerticle verticle = new RendezvousVerticle(on, rendezvousConfig);
      first = on.vertx().deployVerticle(verticle).onSuccess(id -> rendezvous = verticle);
    }
    if (serverConfig != null) {
      ParameterServerVerticle verticle = new ParameterServerVerticle(on, serverConfig);
      first = first.compose(done -> on.vertx().deployVerticle(verticle).onSuccess(id -> server = verticle));
    }
    return first.map(on);
  }

  /** Waits until the job's trainers have left the services, for so long at most. */
  Future<Void> idle(long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    return freed(deadline).compose(done -> rendezvous == null ? Future.<Void>succeededFuture()
        : rendezvous.idle(Math.max(0, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()))));
  }

  private Future<Void> freed(long deadline) {
    ParameterServerVerticle serving = server;
    if (serving == null) {
      return Future.succeededFuture();
    }
    ParameterServerControl control = new ParameterServerControl(node.vertx(), node.host(), serving.port(), node.control());
    return freed(control, deadline).onFailure(e -> LOG.warn("the server in this process does not say whether trainers still use job {}: {}",
        job, e.getMessage())).otherwiseEmpty().eventually(control::close);
  }

  /** The last trainer that leaves a server frees the job there. */
  private Future<Void> freed(ParameterServerControl control, long deadline) {
    return control.status(job).compose(status -> {
      boolean held = status.getShardsList().stream().anyMatch(shard -> shard.getJobsCount() > 0);
      return held && System.nanoTime() - deadline < 0
          ? node.vertx().timer(POLL_MILLIS, TimeUnit.MILLISECONDS).compose(timer -> freed(control, deadline))
          : Future.<Void>succeededFuture();
    });
  }
}
