package io.regatta.parameterserver;

import io.regatta.core.exchange.TrainerId;
import io.regatta.core.shard.ParameterShard;
import io.regatta.node.group.GroupWatch;
import io.regatta.protocol.connection.PeerLog;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A follower of a job's group that notifies a shard of members that are gone. Owned by the shard's event loop. A change
 * costs one look-up for each member that it names, whatever the shard holds and however large the group is.
 */
final class ShardFollower implements GroupWatch.Follower {

  private static final Logger LOG = LoggerFactory.getLogger(ShardFollower.class);
  private static final PeerLog LOSSES = PeerLog.ofEvents(LOG);

  private final ParameterShard shard;
  private final int index;
  private final String job;
  private final Runnable changed;
  private final BooleanSupplier connected;
  private final Departures.Taker closed;

  /**
   * Creates a follower.
   *
   * @param changed called when the job may have been freed
   * @param connected whether the job has a stream here
   * @param closed notified of each trainer of the job that has left
   */
  ShardFollower(ParameterShard shard, int index, String job, Runnable changed, BooleanSupplier connected,
      Departures.Taker closed) {
    this.shard = shard;
    this.index = index;
    this.job = job;
    this.changed = changed;
    this.connected = connected;
    this.closed = closed;
  }

  @Override
  public void active(TrainerId holder) {
    long here = shard.activeIncarnation(job, holder.rank());
    if (here >= 0 && here < holder.incarnation()) {
      lose(new TrainerId(holder.rank(), here));
    }
  }

  @Override
  public void gone(TrainerId life, boolean left, boolean succeeded) {
    active(life);
    if (left) {
      closed.left(job, life.rank(), succeeded);
      shard.leave(job, life);
    }
    if (shard.activeIncarnation(job, life.rank()) == life.incarnation()) {
      lose(life);
    } else {
      shard.lost(job, life); // one that is gone without ever having come here is not waited for either
    }
  }

  @Override
  public void viewed() {
    changed.run();
  }

  /** Declares the remaining trainers lost: the group has ended, so they will not leave on their own. */
  @Override
  public void ended(long lastIncarnation) {
    for (TrainerId t : shard.active(job)) {
      if (t.incarnation() <= lastIncarnation) {
        lose(t);
      }
    }
    changed.run();
  }

  @Override
  public boolean connected() {
    return connected.getAsBoolean();
  }

  private void lose(TrainerId id) {
    LOSSES.warn("trainer {} (incarnation {}) of job {} is lost; shard {} continues without it", id.rank(),
        id.incarnation(), job,
        index);
    shard.lost(job, id);
  }
}
