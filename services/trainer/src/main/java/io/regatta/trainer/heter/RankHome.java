package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.loop.Clock;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.error.ErrorMapping;
import io.vertx.core.Future;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The home of a rank: the heter worker that computes its batches, and the moves to another one. A rank moves when its
 * home is lost or full, and for balance at a time at which no batch is under way. Owned by the loop of {@link
 * HeterWorkers}.
 */
final class RankHome {

  private static final Logger LOG = LoggerFactory.getLogger(RankHome.class);
  private static final String NONE = "a heter worker, of which none is left";

  private final Clock clock;
  private final SendingRank rank;
  private final boolean stays;
  private final WorkerSearch search;
  private final WorkerStreams workers;
  private final PendingBatches batches;
  private final HomeState state;
  private final HeterCounts counts;
  private final Consumer<RegattaException> end;
  /** Null before the start, and while no worker is left. */
  private HeterWorker home;
  private boolean moving;
  /** Time since which workers have refused all batches, since they have no room; -1: they have not. */
  private long fullSinceNanos = -1;
  /** Any thread reads it. */
  private volatile String name = NONE;

  /**
   * Creates the home of a rank that has none yet.
   *
   * @param stays true if the home has dense values and gradients of this rank, which moves only when the home is lost
   * @param state what the home has then
   * @param end ends the rank's work, since no worker can have it
   */
  RankHome(Clock clock, SendingRank rank, boolean stays, WorkerSearch search, WorkerStreams workers,
      PendingBatches batches, HomeState state, HeterCounts counts, Consumer<RegattaException> end) {
    this.clock = clock;
    this.rank = rank;
    this.stays = stays;
    this.search = search;
    this.workers = workers;
    this.batches = batches;
    this.state = state;
    this.counts = counts;
    this.end = end;
  }

  /** Returns the name of the home, in messages; any thread. */
  String name() {
    return name;
  }

  /** Returns the home; null: there is none. */
  HeterWorker worker() {
    return home;
  }

  private void set(HeterWorker worker) {
    home = worker;
    name = worker == null ? NONE : worker.name;
  }

  /** Chooses the first home among the workers that are ready, of which there is at least one. */
  void begin() {
    set(HomeChoice.first(workers.ready(), rank.number()));
  }

  /** Sends all batches that no worker has to the home, if there is one now. */
  void send() {
    if (home != null && !moving) {
      batches.sendTo(home);
    }
  }

  /** Notes that a batch has been computed. */
  void computed(PendingBatches.Pending batch) {
    fullSinceNanos = -1;
    if (stays) {
      state.computed(batch.batch(), batch.versions());
    }
  }

  /** Leaves the home, which is lost or refuses this rank, and has been dropped. */
  void leave(RegattaException why) {
    HeterWorker left = home;
    set(null);
    if (!HeterWorker.isTemporary(why) || why instanceof Overloaded && isFullForLong()) {
      end.accept(why);
      return;
    }
    int given = batches.takeBack(left);
    long step = rank.lastStep().getAsLong();
    String moved = given + (given == 1 ? " batch" : " batches");
    String lost = rank + (step < 0 ? "" : " at step " + step) + ": " + why.getMessage();
    HomeChoice.afterLoss(workers.ready(), rank.number()).ifPresentOrElse(next -> {
      LOG.warn("{}; {} go{} to heter worker {}", lost, moved, given == 1 ? "es" : "", next.index());
      moveTo(next);
    }, () -> {
      LOG.warn("{}; {} wait{} up to {} s for another heter worker, since none is left", lost, moved,
          given == 1 ? "s" : "", search.patience().toSeconds());
      search.urge(() -> end.accept(why instanceof Overloaded ? search.noRoom(lost) : new PeerLost(lost
          + "; no other heter worker was there within " + search.patience().toSeconds()
          + " s; start a heter worker again, then the job")));
    });
  }

  /** Returns true if workers have refused all batches for longer than the rank has patience. */
  private boolean isFullForLong() {
    long now = clock.nanos();
    fullSinceNanos = fullSinceNanos < 0 ? now : fullSinceNanos;
    return now - fullSinceNanos > search.patience().toNanos();
  }

  /** Sends the batches to this worker from now on; it has the rank's state before. */
  void moveTo(HeterWorker next) {
    set(next);
    workers.announce(next);
    if (stays) {
      bringState(next);
    } else {
      send();
    }
  }

  private void bringState(HeterWorker to) {
    moving = true;
    state.moveTo(to.at, batch -> {
      counts.again.increment();
      return Future.fromCompletionStage(to.link.compute(batch));
    }).onComplete(moved -> {
      if (home != to) { // it is lost, too
        return;
      }
      if (moved.succeeded()) {
        moving = false;
        if (state.isAt(to.at)) {
          send();
        } else { // a link was opened to the former home meanwhile
          bringState(to);
        }
        return;
      }
      RegattaException why = ErrorMapping.regatta(moved.cause());
      if (HeterWorker.isTemporary(why) && !state.isBeyondRepair()) {
        workers.lost(to, why);
      } else {
        end.accept(why);
      }
    });
  }

  /** Notes that a link through a worker is of no use: that is lost, or was before the link was opened. */
  void lost(Directory.Instance at, Throwable why) {
    if (home != null && home.at.equals(at)) {
      workers.lost(home, ErrorMapping.regatta(why));
    } else if (home != null && !moving) {
      bringState(home);
    }
  }

  /**
   * Moves to the worker that has the fewest trainers, if that makes the numbers more equal. The target counts this rank
   * before it answers, so its number is the true one.
   */
  void moveIfUneven() {
    HeterWorker from = home;
    if (stays || moving || from == null || workers.replicas() == 0) {
      return;
    }
    HomeChoice.better(from, workers.ready(), rank.number()).ifPresent(to -> {
      moving = true;
      workers.reserve(to).onComplete(opened -> {
        moving = false;
        if (opened.succeeded() && to.ready) { // to counts this rank, perhaps in vain: its home may be lost meanwhile
          boolean better = home == from && to.trainers() < from.trainers();
          if (better) {
            set(to);
            LOG.info("{}: its batches go to {} from now on, which has fewer trainers than heter worker {}", rank,
                to.name, from.index());
          }
          workers.announce(better ? from : to);
        }
        send();
      });
    });
  }

  /** Forgets the home: nothing is sent any more. */
  void close() {
    set(null);
  }
}
