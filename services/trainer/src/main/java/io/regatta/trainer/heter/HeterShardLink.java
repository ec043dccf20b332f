package io.regatta.trainer.heter;

import io.regatta.core.dense.DenseSlice;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.DensePartition;
import io.regatta.node.directory.Directory;
import io.regatta.protocol.error.ErrorMapping;
import io.vertx.core.Future;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * A trainer's link to one shard whose dense values and gradients its heter worker has, as far as they belong to the
 * part. Pushes go through the heter worker, which adds the part's gradient. A pull of dense values for a step goes
 * there,
 * too, and its answer has the trainer's own variables: memory of the part's is not written. Rows, and reads for
 * evaluations, come over the direct link. Owned by the loop of its links: calls are made and complete on it.
 *
 * <p>The two streams keep no order between them. A leave or a pause therefore goes to the shard when this trainer's
 * pushes have been acknowledged. Without rounds, pulls of rows wait for earlier pushes, so that a trainer reads its own
 * writes. Pushes wait for earlier pulls of rows, unless these may wait for other trainers.
 *
 * <p>When the heter worker is lost, its unanswered requests wait until another one has the state of this rank
 * ({@link #reopen}). They are repeated there, in order. Pushes keep their sequence numbers, so no shard applies one
 * twice.
 */
public final class HeterShardLink implements ShardLink {

  /** A request to the heter worker, until it is answered. */
  private static final class Request<T> {
    private final Function<ShardLink, CompletionStage<T>> call;
    private final CompletableFuture<T> answer = new CompletableFuture<>();

    private Request(Function<ShardLink, CompletionStage<T>> call) {
      this.call = call;
    }

    private void send(ShardLink to, BiConsumer<Request<T>, Throwable> failed) {
      call.apply(to).whenComplete((value, error) -> {
        if (error == null) {
          answer.complete(value);
        } else {
          failed.accept(this, ErrorMapping.regatta(error));
        }
      });
    }
  }

  private final ShardLink direct;
  private final int shard;
  private final Function<Directory.Instance, Future<ShardLink>> opener;
  private final HeterWorkers home;
  private final boolean addsUp;
  /** Unanswered requests in their order; compared by identity. */
  private final Set<Request<?>> unanswered = new LinkedHashSet<>();
  /** Null while there is no home. */
  private ShardLink worker;
  /** A link that is not in use yet: the state is on its way. */
  private ShardLink next;
  private Directory.Instance at;
  private CompletionStage<?> lastPush = CompletableFuture.completedFuture(null);
  /** The last pull of rows, which no later push may overtake. */
  private CompletionStage<?> lastRows = CompletableFuture.completedFuture(null);
  /** Completes when all earlier requests to the heter worker have been sent. */
  private CompletionStage<Void> sent = CompletableFuture.completedFuture(null);
  private JobSpec job;
  private TrainerId trainer;
  private boolean pullsWait;
  /** The last answered pull of dense values; null: none. */
  private Pull pulled;
  private long version = -1;
  /** Why there is no heter worker any more; null: there is, or will be one. */
  private Throwable over;

  /**
   * Creates the link.
   *
   * @param shard its index
   * @param direct to the shard
   * @param worker to the heter worker, addressed to the same shard
   * @param at the heter worker
   * @param opener opens such a link to another one
   * @param home notified of the heter worker's loss; finds another one
   * @param addsUp true if the heter worker waits for this trainer's gradients, until it hears that the trainer sits out
   */
  public HeterShardLink(int shard, ShardLink direct, ShardLink worker, Directory.Instance at,
      Function<Directory.Instance, Future<ShardLink>> opener, HeterWorkers home, boolean addsUp) {
    this.addsUp = addsUp;
    this.shard = shard;
    this.direct = direct;
    this.worker = worker;
    this.at = at;
    this.opener = opener;
    this.home = home;
    home.add(this);
  }

  private <T> CompletionStage<T> through(Function<ShardLink, CompletionStage<T>> call) {
    Request<T> request = new Request<>(call);
    if (over != null) {
      request.answer.completeExceptionally(over);
      return request.answer;
    }
    sent = sent.thenRun(() -> {
      if (over != null) {
        request.answer.completeExceptionally(over);
        return;
      }
      unanswered.add(request);
      request.answer.whenComplete((value, error) -> unanswered.remove(request));
      if (worker != null) {
        try {
          send(request);
        } catch (RuntimeException e) {
          request.answer.completeExceptionally(e);
        }
      }
    });
    return request.answer;
  }

  private <T> void send(Request<T> request) {
    ShardLink on = worker;
    request.send(on, (of, error) -> {
      if (worker != on) {
        return; // it is repeated at another one, or has failed
      }
      if (error instanceof PeerLost) {
        suspend(error);
      } else {
        of.answer.completeExceptionally(error);
      }
    });
  }

  /** Waits for another home, unless it is the shard that is lost, behind the heter worker. */
  private void suspend(Throwable why) {
    worker = null;
    Directory.Instance lost = at;
    if (pulled == null) { // a shard whose vector is not initialized would let a pull wait
      home.lost(lost, why);
      return;
    }
    direct.pull(new Pull(trainer.rank(), 0, false, List.of(), false, true)).whenComplete((alive, error) -> {
      if (error == null) {
        home.lost(lost, why);
      } else {
        end(ErrorMapping.regatta(error));
      }
    });
  }

  /** Returns the version of the dense values at the heter worker; -1: there are none. */
  long version() {
    return version;
  }

  boolean isAt(Directory.Instance instance) {
    return at.equals(instance);
  }

  /** Returns true if a gradient is lost with the heter worker until its batch is computed again. */
  boolean owesGradients() {
    return job != null && !job.mode().pushesDeltas();
  }

  boolean hasRounds() {
    return job != null && job.mode().hasRounds();
  }

  /**
   * Opens a link to another home, and pulls the dense values for the same step there. Requests wait for {@link
   * #resume}.
   *
   * @return the version of the values; -1 if there were none before
   */
  Future<Long> reopen(Directory.Instance to) {
    ShardLink before = worker != null ? worker : next;
    worker = null;
    next = null;
    if (before != null) {
      before.close();
    }
    at = to;
    return opener.apply(to).compose(link -> {
      next = link;
      return Future.fromCompletionStage(job == null ? CompletableFuture.completedFuture(0L) : link.register(job,
          trainer, 0))
          .compose(v -> pulled == null ? Future.succeededFuture(-1L)
              : Future.fromCompletionStage(link.pull(pulled)).map(Pulled::version));
    });
  }

  /** Uses the new link from now on, and repeats what is unanswered. */
  void resume() {
    worker = next;
    next = null;
    List.copyOf(unanswered).forEach(this::send);
  }

  /** Fails what is unanswered, and all later requests. */
  void end(Throwable why) {
    over = why;
    List.copyOf(unanswered).forEach(request -> request.answer.completeExceptionally(why));
  }

  @Override
  public String peer() {
    return direct.peer() + " behind " + home.worker();
  }

  /** Registers at the shard, which creates the job and returns the first step; the first time at the worker, too. */
  @Override
  public CompletionStage<Long> register(JobSpec spec, TrainerId id, long step) {
    boolean first = job == null;
    job = spec;
    trainer = id;
    pullsWait = !spec.mode().hasRounds();
    CompletionStage<Long> from = direct.register(spec, id, step);
    return !first ? from : from.thenCompose(at -> through(to -> to.register(spec, id, step)).thenApply(v -> at));
  }

  @Override
  public CompletionStage<Void> initialize(DenseValues dense) {
    return direct.initialize(dense);
  }

  @Override
  public CompletionStage<PushAck> push(Push push) {
    CompletionStage<PushAck> pushed = push.sitsOut() ? sitOut(push) : pushThrough(push);
    lastPush = lastPush.handle((ack, error) -> null).thenCombine(pushed.handle((ack, error) -> null), (a, b) -> null);
    return pushed;
  }

  private CompletionStage<PushAck> sitOut(Push push) {
    return lastPush.thenCompose(v -> addsUp ? through(to -> to.push(push)) : CompletableFuture.completedFuture(null))
        .thenCompose(v -> direct.push(push));
  }

  private CompletionStage<PushAck> pushThrough(Push push) {
    Push own = push.dense() == null ? push : new Push(push.contributors(), push.step(), push.version(),
        own((DenseSlice) push.dense()), push.sparse(), push.finite());
    CompletionStage<?> rows = lastRows;
    sent = sent.thenCompose(v -> rows).thenApply(v -> null);
    return through(to -> to.push(own)).thenApply(ack -> {
      home.acknowledged(push);
      return ack;
    });
  }

  /** Returns what belongs to the trainer's own variables; null: there are none. */
  private DenseSlice own(DenseSlice whole) {
    Set<String> part = home.part();
    List<DensePartition.Part> own = part == null || whole == null ? List.of()
        : job.partition().partsOf(shard).stream().filter(of -> !part.contains(of.variable())).toList();
    return own.isEmpty() ? null : whole.of(own);
  }

  @Override
  public CompletionStage<Pulled> pull(Pull pull) {
    if (!pull.dense() || pull.readOnly()) {
      return direct(pull);
    }
    Pull dense = new Pull(pull.rank(), pull.minStep(), true, own(pull.into()), List.of(), pull.changed(), false);
    CompletionStage<Pulled> values = through(to -> to.pull(dense)).thenApply(there -> {
      pulled = new Pull(pull.rank(), pull.minStep(), true, List.of(), false);
      version = there.version();
      return there;
    });
    if (pull.sparse().isEmpty() && !pull.changed()) {
      return values.thenApply(there -> new Pulled(there.version(), pull.into(), List.of(), there.clockLead()));
    }
    Pull rows = new Pull(pull.rank(), pull.minStep(), false, pull.sparse(), pull.changed());
    return direct(rows).thenCombine(values, (here, there) -> new Pulled(Math.min(here.version(), there.version()),
        pull.into(), here.sparse(), Math.max(here.clockLead(), there.clockLead())));
  }

  private CompletionStage<Pulled> direct(Pull pull) {
    if (!pullsWait || pull.readOnly()) {
      return direct.pull(pull);
    }
    CompletionStage<Pulled> rows = lastPush.thenCompose(v -> direct.pull(pull));
    if (!job.mode().hasStalenessBound()) {
      lastRows = rows.handle((there, error) -> null);
    }
    return rows;
  }

  /** Shrinks, after this trainer's pushes. */
  @Override
  public CompletionStage<Shrunk> shrink(long number, boolean endOfDay) {
    return lastPush.thenCompose(v -> direct.shrink(number, endOfDay));
  }

  /** Leaves the shard even if the heter worker is lost. */
  @Override
  public CompletionStage<Void> leave(boolean succeeded) {
    return lastPush.thenCompose(v -> worker == null ? CompletableFuture.<Void>completedFuture(null)
        : worker.leave(succeeded))
        .handle((left, error) -> null).thenCompose(v -> direct.leave(succeeded));
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
    return worker == null ? direct.handedOver() : worker.handedOver().thenCompose(v -> direct.handedOver());
  }

  @Override
  public CompletionStage<Void> close() {
    ShardLink last = worker != null ? worker : next;
    worker = null;
    next = null;
    end(new Cancelled("the link to " + direct.peer() + " was closed"));
    return (last == null ? CompletableFuture.<Void>completedFuture(null) : last.close()).handle((v, error) -> null)
        .thenCompose(v -> direct.close());
  }
}
