package io.regatta.aggregator;

import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.TrainerId;
import io.regatta.node.Directory;
import io.regatta.node.Directory.Instance;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Comparator;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the group of one job at the rendezvous, the only one who declares losses, and reports who is gone. Owned by
 * the verticle's event loop. A watch that breaks is begun again after a pause until this is closed; a rendezvous that
 * is gone, or was started anew and does not know the group, declares nobody lost.
 */
final class GroupWatch {
  private static final Logger LOG = LoggerFactory.getLogger(GroupWatch.class);
  private static final String ACTIVE = "active";

  private final Vertx vertx;
  private final Directory directory;
  private final String job;
  private final long retryMillis;
  private final Consumer<TrainerId> gone;
  private final LongConsumer ended;
  private RendezvousClient client;
  /** The rendezvous that has shown us the group. */
  private String seenAt = "";
  private long generation;
  private long lastIncarnation;
  private long retry = -1;
  private boolean complained;
  private boolean closed;

  /**
   * @param gone told of every trainer that has left or was lost; older incarnations of its rank are gone as well
   * @param ended told when the group has ended: nobody up to this incarnation is in it any more
   */
  GroupWatch(Vertx vertx, Directory directory, String job, long retryMillis, Consumer<TrainerId> gone,
      LongConsumer ended) {
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

  /** Begins; called once. */
  void start() {
    directory.list(Directory.RENDEZVOUS)
        .compose(found -> closed ? Future.succeededFuture() : watch(found))
        .onComplete(this::over);
  }

  /** A dead one may still be listed until its lease ends; the latest started is the one to ask. */
  private Future<Void> watch(List<Instance> found) {
    Instance latest = found.stream().max(Comparator.comparingLong(Instance::incarnation)).orElse(null);
    if (latest == null) {
      return Future.failedFuture(new PeerLost("there is no rendezvous in the directory"));
    }
    client = new RendezvousClient(vertx, latest.host(), latest.controlPort());
    return client.watch(job, view -> seen(latest.id(), view)).ended().recover(e ->
        e instanceof NotOwner && latest.id().equals(seenAt) ? Future.succeededFuture() : Future.failedFuture(e));
  }

  private void seen(String rendezvous, GroupView view) {
    if (closed) {
      return;
    }
    complained = false;
    seenAt = rendezvous;
    generation = view.getGeneration();
    for (Member member : view.getMembersList()) {
      lastIncarnation = Math.max(lastIncarnation, member.getIncarnation());
      // Views may be skipped: an active holder says that the former lives of its rank are gone.
      long last = member.getState().equals(ACTIVE) ? member.getIncarnation() - 1 : member.getIncarnation();
      gone.accept(new TrainerId(member.getRank(), last));
    }
  }

  private void over(AsyncResult<Void> end) {
    closeClient();
    if (closed) {
      return;
    }
    if (end.succeeded()) {
      ended.accept(lastIncarnation);
    } else if (!complained) {
      complained = true;
      LOG.warn("job {}: the aggregator cannot follow its group and would not see a trainer die: {}. It tries again every "
          + "{} ms; training goes on", job, end.cause().getMessage(), retryMillis);
    }
    if (!closed) {
      retry = vertx.setTimer(retryMillis, id -> start());
    }
  }

  private void closeClient() {
    RendezvousClient last = client;
    client = null;
    if (last != null) {
      last.close().onFailure(e -> LOG.debug("closing the watch of group {}: {}", job, e.toString()));
    }
  }

  /** Ends the watch; nothing is told after it. */
  void close() {
    closed = true;
    vertx.cancelTimer(retry);
    closeClient();
  }
}
