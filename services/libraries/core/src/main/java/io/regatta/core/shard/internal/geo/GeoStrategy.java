package io.regatta.core.shard.internal.geo;

import io.regatta.core.dense.DenseUpdate;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.internal.free.FreeStrategy;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.ChangedRowsCollector;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.IdentityHashMap;
import java.util.Map;

/**
 * The strategy of a shard whose trainers update copies of their own. A push holds differences, which are added to the
 * values. Each trainer can ask for the rows that have changed since it last did. Owned by the shard's thread.
 */
public final class GeoStrategy extends FreeStrategy {

  /** The changes that trainers have to receive. */
  private final ChangeLog changes = new ChangeLog();
  /** Version of the log up to which each active trainer has received the changes. */
  private final Map<TrainerState, Long> received = new IdentityHashMap<>();

  public GeoStrategy(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit limit) {
    super(job, tables, trainers, check, limit);
  }

  @Override
  protected long apply(SparseRows rows, int from, int to, long step, long update) {
    long cost = tables.add(rows, from, to);
    changes.add(rows.table(), rows.ids(), from, to);
    return cost + (long) ChangeLog.NOTED_FLOATS * (to - from);
  }

  @Override
  protected DenseUpdate denseUpdate(long step, long update) {
    return (visit, block, delta) -> tables.add(block, delta);
  }

  @Override
  public void checkChanged(JobContext context, Pull pull, String who) {
    if (pull.readOnly()) {
      throw new InvalidInput(who + " asks " + job.where + " read-only for changed rows, which are forgotten once told; "
          + "ask for them in a pull of a step");
    }
  }

  @Override
  public ChangedRowsCollector changesFor(TrainerState trainer) {
    return changes.after(received.get(trainer));
  }

  @Override
  public void received(TrainerState trainer, long version) {
    received.computeIfPresent(trainer, (t, before) -> Math.max(before, version));
    forgetReceived();
  }

  @Override
  public void registered(TrainerState trainer) {
    received.putIfAbsent(trainer, changes.version());
  }

  @Override
  public void ended() {
    received.keySet().removeIf(trainer -> !trainer.active());
    forgetReceived();
  }

  /** Forgets the changes that all trainers have received. */
  private void forgetReceived() {
    changes.forget(received.values().stream().mapToLong(Long::longValue).min().orElse(changes.version()));
  }

  /** Returns the changes that some trainer has not received. */
  public ChangeLog changes() {
    return changes;
  }
}
