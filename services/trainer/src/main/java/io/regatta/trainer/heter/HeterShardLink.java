package io.regatta.trainer.heter;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A trainer's link to one shard whose dense values and gradients its heter worker has. Pushes go through the heter
 * worker, which adds the dense gradient. A pull of dense values for a step goes there, too, and ends there: memory of
 * this trainer is not written. Rows, and reads for evaluations, come over the direct link. Owned by the loop of the two
 * links, which must be the same; calls are made and complete on it.
 *
 * <p>The two streams keep no order between them. A leave or a pause therefore goes to the shard when this trainer's
 * pushes have been acknowledged. Without rounds, pulls of rows wait for them, too, so that a trainer reads its own
 * writes.
 */
public final class HeterShardLink implements ShardLink {
  private final ShardLink direct;
  private final ShardLink worker;
  private CompletionStage<?> lastPush = CompletableFuture.completedFuture(null);
  private boolean pullsWait;
  private boolean registered;

  /**
   * Creates the link.
   *
   * @param direct to the shard
   * @param worker to the heter worker, addressed to the same shard
   */
  public HeterShardLink(ShardLink direct, ShardLink worker) {
    this.direct = direct;
    this.worker = worker;
  }

  @Override
  public String peer() {
    return direct.peer() + " behind " + worker.peer();
  }

  /** Registers at the shard, which creates the job and returns the first step; the first time at the worker, too. */
  @Override
  public CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step) {
    pullsWait = !job.mode().hasRounds();
    CompletionStage<Long> from = direct.register(job, trainer, step);
    if (registered) {
      return from;
    }
    registered = true;
    return from.thenCompose(first -> worker.register(job, trainer, step).thenApply(v -> first));
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return direct.initialize(dense);
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    CompletionStage<PushAck> pushed = push.sitsOut() ? lastPush.thenCompose(v -> direct.push(push)) : worker.push(push);
    lastPush = lastPush.handle((ack, error) -> null).thenCombine(pushed.handle((ack, error) -> null), (a, b) -> null);
    return pushed;
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    if (!pull.dense() || pull.readOnly()) {
      return direct(pull);
    }
    Pull dense = new Pull(pull.rank(), pull.minStep(), true, List.of(), false);
    CompletionStage<Pulled> values = worker.pull(dense);
    if (pull.sparse().isEmpty() && !pull.changed()) {
      return values.thenApply(there -> new Pulled(there.version(), pull.into(), List.of(), there.clockLead()));
    }
    Pull rows = new Pull(pull.rank(), pull.minStep(), false, pull.sparse(), pull.changed());
    return direct(rows).thenCombine(values, (here, there) -> new Pulled(Math.min(here.version(), there.version()),
        pull.into(), here.sparse(), Math.max(here.clockLead(), there.clockLead())));
  }

  private CompletionStage<Pulled> direct(Pull pull) {
    return pullsWait && !pull.readOnly() ? lastPush.thenCompose(v -> direct.pull(pull)) : direct.pull(pull);
  }

  /** Shrinks, after this trainer's pushes. */
  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return lastPush.thenCompose(v -> direct.shrink(number, endOfDay));
  }

  /** Leaves the shard even if the heter worker is lost, and then fails with that error. */
  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return lastPush.thenCompose(v -> worker.leave(succeeded)).handle((left, error) -> error)
        .thenCompose(error -> direct.leave(succeeded).thenCompose(left -> error == null
            ? CompletableFuture.<Void>completedFuture(null) : CompletableFuture.failedFuture(error)));
  }

  @Override
  public CompletionStage<Long> digest() {
    return direct.digest();
  }

  @Override
  public CompletionStage<Void> export(String table, RowSink sink) {
    return direct.export(table, sink);
  }

  @Override
  public CompletionStage<Void> handedOver() {
    return worker.handedOver().thenCompose(v -> direct.handedOver());
  }

  @Override
  public CompletionStage<Void> close() {
    return worker.close().handle((v, error) -> null).thenCompose(v -> direct.close());
  }
}
