package io.regatta.fleet.process;

import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.vertx.VertxLoop;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The services of a job that a trainer's process hosts beside the trainer. They serve the other trainers, too, so they do not end
 * before these have left. Any thread.
 */
final class HostedServices {

  private static final Logger LOG = LoggerFactory.getLogger(HostedServices.class);
  private static final long GONE_MILLIS = 1000;
  private static final int GONE_TIMES = 10;

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

  /**
   * Waits until the job's trainers have left the services. Trainers that die are declared lost by the rendezvous, so
   * the wait ends. If the rendezvous has gone, it ends as well.
   */
  Future<Void> idle() {
    return freed().compose(done -> rendezvous == null ? Future.<Void>succeededFuture() : rendezvous.idle());
  }

  private Future<Void> freed() {
    ParameterServerVerticle serving = server;
    if (serving == null) {
      return Future.succeededFuture();
    }
    ParameterServerControl control = new ParameterServerControl(node.network(), node.host(), serving.port());
    Future<Void> free = new DepartureWatch(VertxLoop.current(node.vertx()),
        () -> control.status(job).map(status -> DepartureWatch.holders(List.of(status))),
        who -> LOG.info("parameter server {} of this process stays until all have left it: {} (Ctrl-C ends it now)", serving.index(), who))
        .await()
        .onFailure(e -> LOG.warn("the server in this process does not say whether trainers still use job {}: {}", job, e.getMessage()))
        .otherwiseEmpty();
    Promise<Void> gone = Promise.promise();
    rendezvousGone(gone, 0);
    return Future.any(free, gone.future()).<Void>mapEmpty().eventually(control::close);
  }

  /**
   * Completes the promise when there has been no rendezvous for longer than one may take to enter the directory anew.
   */
  private void rendezvousGone(Promise<Void> gone, int times) {
    if (times >= GONE_TIMES) {
      gone.complete();
      return;
    }
    VertxLoop.current(node.vertx()).after(GONE_MILLIS, () -> node.directory().list(Directory.RENDEZVOUS)
        .onComplete(found -> rendezvousGone(gone, found.succeeded() && !found.result().isEmpty() ? 0 : times + 1)));
  }
}
