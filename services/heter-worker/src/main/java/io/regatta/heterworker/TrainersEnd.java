package io.regatta.heterworker;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.core.loop.Timer;
import io.regatta.node.Node;
import io.regatta.node.group.GroupWatch;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;

/**
 * The end of a job's trainers. A heter worker follows the job's group at the rendezvous, from the first stream on. If
 * the job meets over a store, the streams alone tell. Owned by the verticle's event loop.
 */
final class TrainersEnd {

  /** Receiver of trainers that the rendezvous has declared lost. */
  interface Losses {

    /** A life of a trainer, and its older ones, are over. May be called again for the same. */
    void lost(TrainerId life);
  }

  private static final long RETRY_MILLIS = 1000;
  /** How long streams of trainers that have left may take to end. */
  private static final long CLOSE_MILLIS = 2000;

  private final String job;
  private final int trainers;
  private final Losses losses;
  private final Promise<Void> ended = Promise.promise();
  /** Null: the job meets over a store. */
  private final GroupWatch watch;
  private final Set<Integer> open = new HashSet<>();
  private final Set<Integer> opened = new TreeSet<>();
  /** Trainers that have left their group in order. */
  private final Set<TrainerId> left = new HashSet<>();
  private final Loop loop;
  private Timer closing = Timer.NONE;
  private boolean watching;
  private boolean groupHasEnded;
  private boolean someSucceeded;

  /**
   * Creates one that follows nothing yet.
   *
   * @param trainers number of the job's
   * @param overStore true if the job's trainers meet over a store: no rendezvous has them
   * @param who this heter worker, for the log
   */
  TrainersEnd(Node node, Loop loop, String job, int trainers, boolean overStore, String who, Losses losses) {
    this.loop = loop;
    this.job = job;
    this.trainers = trainers;
    this.losses = losses;
    watch = overStore ? null
        : new GroupWatch(loop, node.directory(), node.network(), job, who, RETRY_MILLIS, new Follower());
  }

  /**
   * Completes when all trainers of the job have left or were lost, and fails then if none of them has ended its run with
   * success.
   */
  Future<Void> ended() {
    return ended.future();
  }

  /** Notes that a trainer has asked for a stream, which may be refused. */
  void came() {
    if (watch != null && !watching) {
      watching = true;
      watch.start();
    }
  }

  /** Notes that a trainer's stream is open. It may be one that the rendezvous has reported as gone before. */
  void opened(int rank) {
    open.add(rank);
    opened.add(rank);
    if (watch != null) {
      watch.repeat(rank);
    }
  }

  /** Notes that a trainer's stream is over. */
  void closed(int rank, boolean clean) {
    open.remove(rank);
    if (watch == null) {
      someSucceeded |= clean;
    }
    if (open.isEmpty() && (groupHasEnded || watch == null && opened.size() >= trainers)) {
      over();
    }
  }

  /** Returns true if the rendezvous has reported that a trainer has left by itself: the end of its stream is no loss. */
  boolean hasLeft(TrainerId trainer) {
    return left.contains(trainer);
  }

  void close() {
    closing.cancel();
    if (watch != null) {
      watch.close();
    }
  }

  private void over() {
    if (someSucceeded) {
      ended.tryComplete();
    } else {
      ended.tryFail(new PeerLost("no trainer of job " + job + " has ended its run with success"));
    }
  }

  private final class Follower implements GroupWatch.Follower {
    @Override
    public void active(TrainerId holder) {
      losses.lost(new TrainerId(holder.rank(), holder.incarnation() - 1));
    }

    @Override
    public void gone(TrainerId life, boolean left, boolean succeeded) {
      someSucceeded |= succeeded;
      if (left) {
        TrainersEnd.this.left.add(life);
        active(life); // its own stream ends by itself
      } else {
        losses.lost(life);
      }
    }

    @Override
    public void viewed() {}

    @Override
    public void ended(long lastIncarnation) {
      groupHasEnded = true;
      if (open.isEmpty()) {
        over();
      } else { // trainers leave their group first
        closing.cancel();
        closing = loop.after(CLOSE_MILLIS, TrainersEnd.this::over);
      }
    }

    @Override
    public boolean connected() {
      return !open.isEmpty();
    }
  }
}
