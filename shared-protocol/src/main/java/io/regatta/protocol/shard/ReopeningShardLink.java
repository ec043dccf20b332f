package io.regatta.protocol.shard;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.vertx.LoopFutures;
import io.vertx.core.Future;
import io.vertx.core.http.HttpClosedException;
import java.io.IOException;
import java.net.ConnectException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A trainer's link to one life of a shard that outlives its connection. When the connection is reset, it opens another
 * stream, registers again and repeats the unanswered requests, in order and unchanged. Repeated pushes keep their
 * sequence numbers; the shard applies none twice. Owned by the context of its streams: calls are made and complete on
 * it.
 *
 * <p>Other failures end the link as they would end a {@link GrpcShardLink}. They are a refusal, a peer that is gone
 * (its port is closed) or silent, and a connection that breaks more than {@value #BREAKS} times without an answer in
 * between. A break also ends it under a sent request that must not reach a shard twice. Such requests are an export,
 * and a pull of changed rows, which a shard forgets once it has sent them. If a shard does not know the trainer any
 * more, the leave has been carried out.
 */
public final class ReopeningShardLink implements ShardLink {

  private static final Logger LOG = LoggerFactory.getLogger(ReopeningShardLink.class);
  private static final int BREAKS = 3;
  /** Pause before another stream is opened: a write fails before the pool has noticed that its connection is dead. */
  private static final long PAUSE_MILLIS = 100;

  private final Supplier<Future<GrpcShardLink>> open;
  private final int maxRequests;
  private final String peer;
  private final PeerLog resets = new PeerLog(LOG);
  /** Unanswered requests in the order in which they were made; compared by identity. */
  private final Set<Request<?>> unanswered = new LinkedHashSet<>();
  private GrpcShardLink link;
  private JobSpec job;
  private TrainerId trainer;
  /** True once the shard has answered a registration. */
  private boolean registered;
  private boolean reopening;
  /** Number of breaks since the last answer. */
  private int breaks;
  /** The reason for which there is no link any more, or null. */
  private Throwable over;

  private ReopeningShardLink(GrpcShardLink first, Supplier<Future<GrpcShardLink>> open, int maxRequests) {
    this.link = first;
    this.open = open;
    this.maxRequests = maxRequests;
    peer = first.peer();
  }

  /**
   * Opens a link on the caller's loop.
   *
   * @param loop the caller's, which owns the link and its streams
   * @param open opens a stream to the same life of the shard, on the same loop; fails in bounded time
   * @param maxRequests unanswered requests at a time; further ones are refused
   */
  public static Future<ReopeningShardLink> open(Loop loop, Supplier<Future<GrpcShardLink>> open, int maxRequests) {
    return open.get().map(first -> new ReopeningShardLink(first,
        () -> LoopFutures.after(loop, PAUSE_MILLIS).compose(v -> open.get()), maxRequests));
  }

  /** One call of the owner, made on the current link until it is answered. */
  private static final class Request<T> {
    private final Function<GrpcShardLink, CompletionStage<T>> call;
    private final boolean repeatable;
    private final boolean leave;
    private final CompletableFuture<T> answer = new CompletableFuture<>();
    /** True if a part of it may have reached the shard. */
    private boolean sent;

    Request(boolean repeatable, boolean leave, Function<GrpcShardLink, CompletionStage<T>> call) {
      this.call = call;
      this.repeatable = repeatable;
      this.leave = leave;
    }
  }

  private <T> CompletionStage<T> request(boolean repeatable, Function<GrpcShardLink, CompletionStage<T>> call) {
    return request(new Request<>(repeatable, false, call));
  }

  private <T> CompletionStage<T> request(Request<T> request) {
    if (over != null) {
      return CompletableFuture.failedFuture(over);
    }
    if (unanswered.size() >= maxRequests) {
      return CompletableFuture.failedFuture(new Overloaded(unanswered.size() + " requests to " + peer
          + " are unanswered, the limit of stream.max_requests; wait for an answer first"));
    }
    unanswered.add(request);
    if (!reopening) {
      send(request);
    }
    return request.answer;
  }

  private <T> void send(Request<T> request) {
    GrpcShardLink on = link;
    request.sent |= !on.wasReset();
    CompletionStage<T> called;
    try {
      called = request.call.apply(on);
    } catch (RuntimeException | Error e) { // any failure: the caller waits for the answer
      unanswered.remove(request);
      request.answer.completeExceptionally(e);
      return;
    }
    called.whenComplete((answer, error) -> {
      if (on != link || !unanswered.contains(request)) {
        return; // it has been repeated, or cancelled
      }
      if (error == null) {
        breaks = 0;
        unanswered.remove(request);
        request.answer.complete(answer);
      } else if (!on.wasReset()) {
        unanswered.remove(request);
        request.answer.completeExceptionally(error);
      } else if (!reopening) {
        reopen(error);
      }
    });
  }

  private void reopen(Throwable why) {
    boolean repeatable = job != null && unanswered.stream().allMatch(r -> r.repeatable || !r.sent);
    if (!repeatable || ++breaks > BREAKS) {
      end(why);
      return;
    }
    reopening = true;
    resets.warn("the connection of trainer {} of job {} with {} was reset; it opens another and repeats {} requests: {}",
        trainer.rank(), job.job(), peer, unanswered.size(), why.getMessage());
    open.get().onComplete(opened -> {
      if (over != null) {
        if (opened.succeeded()) {
          opened.result().close();
        }
      } else if (opened.failed()) {
        notOpened(why, opened.cause());
      } else {
        opened(opened.result());
      }
    });
  }

  /** Tries again if the connection broke or was dead already. A closed port stays closed, and a silent peer is lost. */
  private void notOpened(Throwable why, Throwable cause) {
    Throwable broke = cause.getCause();
    boolean reset = broke instanceof HttpClosedException || broke instanceof IOException && !(broke instanceof ConnectException);
    if (reset && breaks < BREAKS) {
      reopen(why);
    } else {
      end(new PeerLost(why.getMessage() + " (no other connection could be opened: " + cause.getMessage() + ")", cause));
    }
  }

  private void opened(GrpcShardLink next) {
    link = next;
    if (!registered) { // the registration is the first of the repeated requests
      repeat();
      return;
    }
    link.registerAgain(job.job(), trainer).whenComplete((v, error) -> {
      if (over != null) {
        return;
      }
      if (error == null) {
        repeat();
      } else if (link.wasReset()) {
        reopen(error);
      } else {
        refused(error);
      }
    });
  }

  private void repeat() {
    reopening = false;
    List.copyOf(unanswered).forEach(this::send);
  }

  private void refused(Throwable error) {
    if (error instanceof StaleGeneration) {
      List<Request<?>> leaves = unanswered.stream().filter(r -> r.leave).toList();
      leaves.forEach(unanswered::remove);
      leaves.forEach(done -> done.answer.complete(null));
    }
    end(error);
  }

  private void end(Throwable why) {
    over = why;
    reopening = false;
    List<Request<?>> given = List.copyOf(unanswered);
    unanswered.clear();
    link.handedOver().whenComplete( // until then borrowed memory may still be read
        (v, e) -> given.forEach(request -> request.answer.completeExceptionally(why)));
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public CompletionStage<Long> register(JobSpec spec, TrainerId id, long step) {
    job = spec;
    trainer = id;
    return request(true, to -> to.register(spec, id, step).thenApply(from -> {
      registered = true;
      return from;
    }));
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return request(true, to -> to.initialize(dense));
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    return request(true, to -> to.push(push));
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    return request(!pull.changed(), to -> to.pull(pull));
  }

  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return request(true, to -> to.shrink(number, endOfDay));
  }

  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return request(new Request<>(true, true, to -> to.leave(succeeded)));
  }

  @Override
  public CompletionStage<Long> digest() {
    return link.digest();
  }

  @Override
  public CompletionStage<Void> export(String table, RowSink sink) {
    return request(false, to -> to.export(table, sink));
  }

  @Override
  public CompletionStage<Void> handedOver() {
    return link.handedOver();
  }

  @Override
  public CompletionStage<Void> close() {
    CompletionStage<Void> closed = link.close();
    if (over == null) {
      end(new Cancelled("the link to " + peer + " was closed"));
    }
    return closed;
  }
}
