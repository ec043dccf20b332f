package io.regatta.parameterserver;

import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.TrainerId;
import io.regatta.node.Directory;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a job's group at the rendezvous, the only one who declares losses, and tells the shard. Owned by the shard's
 * event loop. A watch that breaks is begun again every second while the job is here; training does not wait for it,
 * and a rendezvous that is gone or has forgotten the group declares nobody lost.
 */
final class JobWatch {

  private static final Logger LOG = LoggerFactory.getLogger(JobWatch.class);
  private static final long RETRY_MILLIS = 1000;
  private static final String ACTIVE = "active";
  private static final String LEFT = "left";

  private final Vertx vertx;
  private final Directory directory;
  private final ParameterShard shard;
  private final String job;
  private final String where;
  private final Runnable changed;
  private RendezvousClient client;
  private long highestIncarnation = Long.MIN_VALUE;
  private long retry = -1;
  private boolean complained;
  private boolean closed;

  /** @param changed called after each view, when the job may have been freed */
  JobWatch(Vertx vertx, Directory directory, ParameterShard shard, String job, String where, Runnable changed) {
    this.vertx = vertx;
    this.directory = directory;
    this.shard = shard;
    this.job = job;
    this.where = where;
    this.changed = changed;
  }

  /** Begins; called once. */
  void start() {
    directory.list(Directory.RENDEZVOUS).map(JobWatch::latest).onComplete(found -> {
      if (closed) {
        return;
      }
      if (found.failed()) {
        again("the directory failed: " + found.cause().getMessage());
      } else if (found.result().isEmpty()) {
        again("there is no rendezvous in the directory");
      } else {
        watch(found.result().get());
      }
    });
  }

  /** A dead one may still be listed until its lease ends; the latest started is the one to ask. */
  private static Optional<Directory.Instance> latest(List<Directory.Instance> instances) {
    return instances.stream().max(Comparator.comparingLong(Directory.Instance::incarnation));
  }

  private void watch(Directory.Instance rendezvous) {
    RendezvousClient watching = new RendezvousClient(vertx, rendezvous.host(), rendezvous.controlPort());
    client = watching;
    watching.watch(job, this::view).ended().onComplete(over -> {
      client = null;
      close(watching);
      if (closed) {
        return;
      }
      if (over.succeeded()) {
        groupEnded();
      } else {
        again(over.cause().getMessage());
      }
    });
  }

  private void view(GroupView view) {
    if (closed) {
      return;
    }
    complained = false;
    for (Member m : view.getMembersList()) {
      highestIncarnation = Math.max(highestIncarnation, m.getIncarnation());
      TrainerId id = new TrainerId(m.getRank(), m.getIncarnation());
      if (m.getState().equals(ACTIVE)) {
        supersede(id);
      } else if (m.getState().equals(LEFT)) {
        shard.leave(job, id);
        shard.lost(job, id); // one that left without ever having come here is not waited for either
      } else {
        lost(id);
      }
      if (closed) {
        return;
      }
    }
    changed.run();
  }

  /** Views may be skipped: a rank held by a newer life says that the older one is gone. */
  private void supersede(TrainerId newer) {
    activeTrainers().stream().filter(t -> t.rank() == newer.rank() && t.incarnation() < newer.incarnation())
        .forEach(this::lost);
  }

  /** Nobody is left in the group: who has not said so here never will. */
  private void groupEnded() {
    activeTrainers().stream().filter(t -> t.incarnation() <= highestIncarnation).forEach(this::lost);
    changed.run();
    if (!closed) {
      again("the group has ended");
    }
  }

  private void lost(TrainerId id) {
    if (activeTrainers().contains(id)) {
      LOG.warn("trainer {} (incarnation {}) of job {} is lost; {} goes on without it", id.rank(), id.incarnation(), job,
          where);
    }
    shard.lost(job, id);
  }

  private List<TrainerId> activeTrainers() {
    return shard.jobs().contains(job) ? shard.status(job).trainers().stream().filter(t -> t.state().equals(ACTIVE))
        .map(t -> new TrainerId(t.rank(), t.incarnation())).toList() : List.of();
  }

  private void again(String why) {
    if (!complained) {
      complained = true;
      LOG.warn("{} cannot follow group {} at the rendezvous and would not see a trainer die: {}. It tries again every "
          + "second; training goes on", where, job, why);
    }
    retry = vertx.setTimer(RETRY_MILLIS, id -> start());
  }

  /** Ends the watch; nothing is told after it. */
  void close() {
    closed = true;
    vertx.cancelTimer(retry);
    if (client != null) {
      close(client);
    }
  }

  private void close(RendezvousClient c) {
    Future<Void> gone = c.close();
    gone.onFailure(e -> LOG.debug("closing the watch of group {}: {}", job, e.toString()));
  }
}
