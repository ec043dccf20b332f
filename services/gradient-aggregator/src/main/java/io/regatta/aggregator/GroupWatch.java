package io.regatta.aggregator;

import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.TrainerId;
import io.regatta.node.Directory;
import io.regatta.node.Directory.Instance;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the group of one job at the rendezvous and reports who is gone; owned by the verticle's event loop. A failed
 * watch is begun again after a pause, for as long as it is not closed: without the rendezvous nobody is declared lost.
 */
final class GroupWatch {
  private static final Logger LOG = LoggerFactory.getLogger(GroupWatch.class);

  private final Vertx vertx;
  private final Directory directory;
  private final String job;
  private final long retryMillis;
  /** Told of every trainer that has left or was lost; older incarnations of its rank are gone as well. */
  private final Consumer<TrainerId> gone;
  /** Told when the rendezvous has no such group (any more): nobody up to this incarnation is a member. */
  private final Consumer<Long> ended;
  private RendezvousClient client;
  private long generation;
  private long lastIncarnation;
  private int attempts;
  private boolean failing;
  private boolean closed;

  GroupWatch(Vertx vertx, Directory directory, String job, long retryMillis, Consumer<TrainerId> gone,
      Consumer<Long> ended) {
    this.vertx = vertx;
    this.directory = directory;
    this.job = job;
    this.retryMillis = retryMillis;
    this.gone = gone;
    this.ended = ended;
  }

  /** The latest generation seen, 0 before the first view. */
  long generation() {
    return generation;
  }

  void begin() {
    directory.list(Directory.RENDEZVOUS).compose(this::watch).onComplete(end -> {
      if (closed) {
        return;
      }
      closeClient();
      if (end.succeeded()) {
        ended.accept(lastIncarnation);
      } else if (end.cause() instanceof NotOwner) {
        ended.accept(Long.MAX_VALUE);
      } else if (!failing) {
        failing = true;
        LOG.warn("job {}: cannot follow its group, so no loss is noticed here; trying again every {} ms: {}", job,
            retryMillis, end.cause().getMessage());
      }
      if (!closed) {
        vertx.setTimer(retryMillis, id -> again());
      }
    });
  }

  private void again() {
    if (!closed) {
      begin();
    }
  }

  private Future<Void> watch(List<Instance> rendezvous) {
    if (closed) {
      return Future.succeededFuture();
    }
    if (rendezvous.isEmpty()) {
      return Future.failedFuture(new PeerLost("no rendezvous is in the directory"));
    }
    Instance chosen = rendezvous.get(attempts++ % rendezvous.size());
    client = new RendezvousClient(vertx, chosen.host(), chosen.controlPort());
    return client.watch(job, this::seen);
  }

  private void seen(GroupView view) {
    if (closed) {
      return;
    }
    failing = false;
    generation = view.getGeneration();
    for (Member member : view.getMembersList()) {
      lastIncarnation = Math.max(lastIncarnation, member.getIncarnation());
      if (!member.getState().equals("active")) {
        gone.accept(new TrainerId(member.getRank(), member.getIncarnation()));
      } else {
        gone.accept(new TrainerId(member.getRank(), member.getIncarnation() - 1)); // its rank's former lives
      }
    }
  }

  private void closeClient() {
    if (client != null) {
      client.close().onFailure(e -> LOG.debug("closing the connection to the rendezvous: {}", e.toString()));
      client = null;
    }
  }

  void close() {
    closed = true;
    closeClient();
  }
}
