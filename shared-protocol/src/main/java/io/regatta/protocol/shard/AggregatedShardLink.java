package io.regatta.protocol.shard;

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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * A trainer's link to one shard through its host's aggregator. Pushes go through the aggregator's stream, everything
 * else over the direct link; registrations and leaves go to both. Owned by the context of the two links, which must be
 * the same; calls are made and complete on it. Modes sync and half-async only: an aggregator refuses the others.
 *
 * <p>The two streams keep no order between them, so the link makes the order that matters. A leave or a pause changes
 * the trainers that are waited for. It goes to the aggregator, and then, when this trainer's pushes have been
 * acknowledged, to the shard; otherwise the shard would refuse the merged push that follows. In half-async mode a pull
 * also waits for the acknowledgements, so that a trainer reads its own writes; in sync mode the shard itself makes it
 * wait for the round.
 */
public final class AggregatedShardLink implements ShardLink {
  private final ShardLink direct;
  private final ShardLink aggregator;
  private CompletionStage<?> lastPush = CompletableFuture.completedFuture(null);
  private boolean pullsWait;

  /**
   * @param direct to the shard
   * @param aggregator to the aggregator, addressed to the same shard
   */
  public AggregatedShardLink(ShardLink direct, ShardLink aggregator) {
    this.direct = direct;
    this.aggregator = aggregator;
  }

  @Override
  public String peer() {
    return direct.peer() + " behind the " + aggregator.peer();
  }

  /** Registers at the shard first, which creates the job and returns the first step; then at the aggregator. */
  @Override
  public CompletionStage<Long> register(JobSpec job, TrainerId trainer, long step) {
    pullsWait = !job.mode().hasRounds();
    return direct.register(job, trainer, step)
        .thenCompose(from -> aggregator.register(job, trainer, step).thenApply(v -> from));
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return direct.initialize(dense);
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    CompletionStage<PushAck> pushed = push.sitsOut()
        ? lastPush.thenCompose(v -> aggregator.push(push)).thenCompose(v -> direct.push(push))
        : aggregator.push(push);
    lastPush = lastPush.handle((ack, error) -> null).thenCombine(pushed.handle((ack, error) -> null), (a, b) -> null);
    return pushed;
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    return pullsWait ? lastPush.thenCompose(v -> direct.pull(pull)) : direct.pull(pull);
  }

  /** Shrinks, after this trainer's pushes. */
  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return lastPush.thenCompose(v -> direct.shrink(number, endOfDay));
  }

  /** Leaves the shard even if the aggregator is lost, and then fails with the aggregator's error. */
  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return lastPush.thenCompose(v -> aggregator.leave(succeeded)).handle((left, error) -> error)
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
    return aggregator.handedOver().thenCompose(v -> direct.handedOver());
  }

  @Override
  public CompletionStage<Void> close() {
    return aggregator.close().handle((v, error) -> null).thenCompose(v -> direct.close());
  }
}
