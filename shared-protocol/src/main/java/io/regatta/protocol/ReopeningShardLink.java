package io.regatta.protocol;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.Pull;
import io.regatta.core.shard.Pulled;
import io.regatta.core.shard.Push;
import io.regatta.core.shard.PushAck;
import io.regatta.core.shard.RowSink;
import io.regatta.core.shard.ShardLink;
import io.regatta.core.shard.TrainerId;
import io.vertx.core.Future;
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
 * A trainer's link to one life of a shard that outlives its connection: when that is reset, it opens another stream,
 * registers again and repeats what is unanswered, in order and unchanged, pushes under their old sequence numbers; the
 * shard applies none twice. Owned by the context of its streams: calls are made and complete on it.
 *
 * <p>What is not repeated ends the link as it would end a {@link GrpcShardLink}: a refusal; a peer that is gone (its
 * port is closed) or silent; a connection that breaks more than {@value #BREAKS} times without an answer in between; a break
 * under a request that must not reach a shard twice: a leave, the announcement that the trainer sits out (it would take
 * part again), an export, and a pull of changed rows, which a shard forgets once it has told them.
 */
public final class ReopeningShardLink implements ShardLink {

  private static final Logger LOG = LoggerFactory.getLogger(ReopeningShardLink.class);
  private static final int BREAKS = 3;

  private final Supplier<Future<GrpcShardLink>> open;
  private final int maxRequests;
  private final String peer;
  /** In the order in which they were made; compared by identity. */
  private final Set<Request<?>> unanswered = new LinkedHashSet<>();
  private GrpcShardLink link;
  private JobSpec job;
  private TrainerId trainer;
  private boolean sitsOut;
  private boolean reopening;
  /** Since the last answer. */
  private int breaks;
  /** Why there is no link any more, or null. */
  private Throwable over;

  /**
   * Takes a link over.
   *
   * @param first open, and not yet used
   * @param open opens another one to the same life of the shard, on the same context; fails in bounded time
   * @param maxRequests unanswered requests at a time; further ones are refused
   */
  public ReopeningShardLink(GrpcShardLink first, Supplier<Future<GrpcShardLink>> open, int maxRequests) {
    this.link = first;
    this.open = open;
    this.maxRequests = maxRequests;
    peer = first.peer();
  }

  /** One call of the owner, made on the link of the moment until it is answered. */
  private static final class Request<T> {
    private final Function<ShardLink, CompletionStage<T>> call;
    private final boolean repeatable;
    private final CompletableFuture<T> answer = new CompletableFuture<>();

    Request(boolean repeatable, Function<ShardLink, CompletionStage<T>> call) {
      this.call = call;
      this.repeatable = repeatable;
    }
  }

  private <T> CompletionStage<T> request(boolean repeatable, Function<ShardLink, CompletionStage<T>> call) {
    if (over != null) {
      return CompletableFuture.failedFuture(over);
    }
    if (unanswered.size() >= maxRequests) {
      return CompletableFuture.failedFuture(new Overloaded(unanswered.size() + " requests to " + peer
          + " are unanswered, the limit of stream.max_requests; wait for an answer first"));
    }
    Request<T> request = new Request<>(repeatable, call);
    unanswered.add(request);
    if (!reopening) {
      send(request);
    }
    return request.answer;
  }

  private <T> void send(Request<T> request) {
    GrpcShardLink on = link;
    request.call.apply(on).whenComplete((answer, error) -> {
      if (on != link || !unanswered.contains(request)) {
        return; // it has been repeated, or given up
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
    boolean repeatable = job != null && !sitsOut && unanswered.stream().allMatch(r -> r.repeatable);
    if (!repeatable || ++breaks > BREAKS) {
      end(why);
      return;
    }
    reopening = true;
    LOG.warn("the connection of trainer {} of job {} with {} was reset; it opens another and repeats {} requests: {}",
        trainer.rank(), job.job(), peer, unanswered.size(), why.getMessage());
    open.get().onComplete(opened -> {
      if (over != null) {
        if (opened.succeeded()) {
          opened.result().close();
        }
      } else if (opened.failed()) {
        end(why);
      } else {
        link = opened.result();
        link.register(job, trainer, 0).whenComplete((from, error) -> registeredAgain(error));
      }
    });
  }

  private void registeredAgain(Throwable error) {
    if (over != null) {
      return;
    }
    if (error != null && link.wasReset()) {
      reopen(error);
    } else if (error != null) {
      end(error);
    } else {
      reopening = false;
      List.copyOf(unanswered).forEach(this::send);
    }
  }

  private void end(Throwable why) {
    over = why;
    reopening = false;
    List<Request<?>> open = List.copyOf(unanswered);
    unanswered.clear();
    open.forEach(request -> request.answer.completeExceptionally(why));
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public CompletionStage<Long> register(JobSpec spec, TrainerId id, long step) {
    job = spec;
    trainer = id;
    sitsOut = false;
    return request(true, to -> to.register(spec, id, step));
  }

  @Override
  public CompletionStage<Void> initialize(float[] dense) {
    return request(true, to -> to.initialize(dense));
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    sitsOut |= push.sitsOut();
    return request(!push.sitsOut(), to -> to.push(push));
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    return request(!pull.changed(), to -> to.pull(pull));
  }

  @Override
  public CompletionStage<Void> leave() {
    return request(false, ShardLink::leave);
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
  public CompletionStage<Void> close() {
    CompletionStage<Void> closed = link.close();
    if (over == null) {
      end(new Cancelled("the link to " + peer + " was closed"));
    }
    return closed;
  }
}
