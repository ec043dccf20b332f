package io.regatta.aggregator;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.reduce.AggregationRounds;
import io.regatta.node.directory.ShardAddresses;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.error.ErrorMapping;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.vertx.core.AsyncResult;
import io.vertx.core.Context;
import io.vertx.core.Future;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The aggregator's own way to one shard for one job, owned by the verticle's event loop. Its link is opened by the
 * first push that needs it, and again by the first push after it has failed. A failed push is not repeated here: its
 * contributors get the error.
 */
final class ShardConnection implements AggregationRounds.Shard {
  private static final Logger LOG = LoggerFactory.getLogger(ShardConnection.class);
  private static final PeerLog FAILURES = PeerLog.ofEvents(LOG);

  private final Context context;
  private final JobSpec job;
  private final int index;
  private final ShardAddresses addresses;
  private final TensorStreamClient client;
  private final LongSupplier generation;
  private final StreamOptions options;
  /** Incarnation of the shard according to the trainers; 0 while none has named it. */
  private long incarnation;
  /** Null while there is none. */
  private Future<ShardLink> link;

  ShardConnection(Context context, JobSpec job, int index, ShardAddresses addresses, TensorStreamClient client,
      LongSupplier generation, StreamOptions options) {
    this.context = context;
    this.job = job;
    this.index = index;
    this.addresses = addresses;
    this.client = client;
    this.generation = generation;
    this.options = options;
  }

  /** Restricts later links to this incarnation. */
  void meant(long shardIncarnation) {
    incarnation = shardIncarnation;
  }

  /** Returns the incarnation of the shard according to the trainers; 0 while none has named it. */
  long incarnation() {
    return incarnation;
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    CompletableFuture<PushAck> done = new CompletableFuture<>();
    push(push, 0, done);
    return done;
  }

  /** @param next the contributor of this push that opens a link if there is none; those before it were refused */
  private void push(Push push, int next, CompletableFuture<PushAck> done) {
    boolean opensHere = link == null;
    if (opensHere) {
      link = open(push.contributors().get(next));
    }
    Future<ShardLink> used = link;
    used.onComplete(opened -> {
      if (opened.succeeded()) {
        Future.fromCompletionStage(opened.result().push(push), context).onComplete(pushed -> {
          if (pushed.failed()) {
            failed(used, push, pushed.cause());
          }
          answer(pushed, done);
        });
        return;
      }
      int other = opensHere ? next + 1 : next;
      if (opened.cause() instanceof StaleGeneration && other < push.contributors().size()) {
        discard(used);
        push(push, other, done); // the contributor whose registration opened it is refused now; another's may not be
      } else {
        failed(used, push, opened.cause());
        answer(opened, done);
      }
    });
  }

  /**
   * Pushes on a link of its own, opened for it and closed afterwards: a refusal ends its link with everything under
   * way.
   */
  @Override
  public CompletionStage<PushAck> pushAlone(Push push) {
    CompletableFuture<PushAck> done = new CompletableFuture<>();
    Future<ShardLink> own = open(push.contributors().get(0));
    own.compose(opened -> Future.fromCompletionStage(opened.push(push), context)).onComplete(pushed -> {
      close(own);
      answer(pushed, done);
    });
    return done;
  }

  @Override
  public void failed(String what, Throwable fault) {
    LOG.error("{} failed; its trainer gets an answer all the same", what, fault);
  }

  private static void answer(AsyncResult<?> result, CompletableFuture<PushAck> done) {
    if (result.succeeded()) {
      done.complete((PushAck) result.result());
    } else {
      done.completeExceptionally(ErrorMapping.regatta(result.cause()));
    }
  }

  /** Opens a link with the registration of a contributor, which the shard knows already. */
  private Future<ShardLink> open(Contributor first) {
    return addresses.find(index, incarnation).compose(shard -> client.open(shard.getHost(), shard.getPort(), StreamPaths.PARAMETER_SHARD)
        .compose(stream -> {
          ShardLink opened = new GrpcShardLink(stream, name(shard), index, shard.getIncarnation(), generation,
              unused -> Future.failedFuture(new InvalidInput("an aggregator asks for no digest")), options);
          return Future.fromCompletionStage(opened.register(job, new TrainerId(first.rank(), first.incarnation()), 0),
              context).map(registered -> opened);
        }));
  }

  private static String name(Shard shard) {
    return "shard " + shard.getIndex() + " at " + shard.getHost() + ":" + shard.getPort();
  }

  /** Logs the loss of a shard once: later pushes fail with the same link. */
  private void failed(Future<ShardLink> used, Push push, Throwable cause) {
    if (link == used && cause instanceof PeerLost) {
      FAILURES.warn("{}; of job {} the pushes of step {} fail, those of trainers {}", cause.getMessage(), job.job(),
          push.step(), push.contributors().stream().map(c -> Integer.toString(c.rank()))
              .collect(Collectors.joining(", ")));
    }
    discard(used);
  }

  private void discard(Future<ShardLink> failed) {
    if (link == failed) {
      link = null;
      close(failed);
    }
  }

  /** Closes the link if there is one; pushes under way fail. */
  Future<Void> close() {
    Future<ShardLink> last = link;
    link = null;
    return last == null ? Future.succeededFuture() : close(last);
  }

  private Future<Void> close(Future<ShardLink> opened) {
    return opened.compose(l -> Future.fromCompletionStage(l.close(), context)).otherwiseEmpty();
  }
}
