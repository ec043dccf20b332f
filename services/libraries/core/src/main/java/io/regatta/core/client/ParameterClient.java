package io.regatta.core.client;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.RowSink;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.SparseTableSpec;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * A trainer's view of all shards of its job as one. It cuts dense vectors by {@link DensePartition} and sparse rows by
 * {@code SparsePartition}, calls every {@link ShardLink}, and assembles the answers. Slicing happens on the caller's
 * (model) thread. Sequence numbers and links belong to {@code owner}, a serial executor. It is the trainer verticle's
 * event loop, or {@code Runnable::run} in local mode. One client per rank, shared by its replicas.
 *
 * <p>Futures fail with a {@link io.regatta.core.error.RegattaException}, or with the defect itself. The first failing
 * shard fails the whole call, and what the others did is not undone. A failed push ends the run, or is left to the
 * caller to judge.
 */
public final class ParameterClient {

  /**
   * All values of a pull.
   *
   * @param versions by shard; the next push returns them
   * @param dense the flat vector; null if it was not requested, or if it was written into direct memory
   * @param sparse one entry per request, then (geo) one per table with changed rows
   * @param clockLead the most clocks that a shard found this trainer ahead of the slowest one
   */
  public record Values(long[] versions, float[] dense, List<SparseRows> sparse, long clockLead) {}

  /** The summary of all shards' answers to a push: the highest staleness, and whether any skipped it. */
  public record Pushed(long staleness, boolean skippedPush) {}

  private final JobSpec job;
  private final TrainerId trainer;
  private final List<ShardLink> links;
  private final Executor owner;
  private final DensePartition partition;
  private final GradientCheck model;
  /** Sequence numbers by shard; used on the owner only. */
  private final long[] sequences;
  /** Steps with which the shards answered the last registration; written where the last answer completes. */
  private volatile List<Long> partFrom;
  /**
   * Number of calls without an answer, by shard: counted on the owner, uncounted where an answer completes, read
   * anywhere.
   */
  private final AtomicIntegerArray unanswered;

  /**
   * Creates a client.
   *
   * @param shards in the order of the shard map, one link for each of {@link JobSpec#shards}
   */
  public ParameterClient(JobSpec job, TrainerId trainer, List<? extends ShardLink> shards, Executor owner) {
    if (shards.size() != job.shards()) {
      throw new InvalidInput("job '" + job.job() + "' is cut over " + job.shards() + " shards, but there are "
          + shards.size() + " links");
    }
    this.job = job;
    this.trainer = trainer;
    this.links = List.copyOf(shards);
    this.owner = owner;
    partition = job.partition();
    model = new GradientCheck(job.model());
    sequences = new long[job.shards()];
    partFrom = Collections.nCopies(job.shards(), 0L);
    unanswered = new AtomicIntegerArray(job.shards());
  }

  public JobSpec job() {
    return job;
  }

  /** Returns the partition of the dense variables' blocks over the shards. */
  public DensePartition partition() {
    return partition;
  }

  /** Returns the shards that owe this trainer an answer now, with their links' {@link ShardLink#peer}. Any thread. */
  public SortedMap<Integer, String> unanswered() {
    SortedMap<Integer, String> shards = new TreeMap<>();
    for (int s = 0; s < links.size(); s++) {
      if (unanswered.get(s) > 0) {
        shards.put(s, links.get(s).peer());
      }
    }
    return shards;
  }

  /**
   * Announces this trainer to all shards; or again, after {@link #sitOut}.
   *
   * @return the step from which every shard can wait for it. The shards' steps differ if a trainer has gone between a
   *     push to one shard and the same push to another: {@link #takePartFrom} makes them equal
   */
  public CompletableFuture<Long> register() {
    return onOwner(() -> all(s -> links.get(s).register(job, trainer, 0)).thenApply(from -> {
      partFrom = from;
      return Collections.max(from);
    }));
  }

  /**
   * Has every shard wait for this trainer from this step on, which is the highest answer to any trainer's {@link
   * #register}. Shards that answered with it are not asked again.
   */
  public CompletableFuture<Void> takePartFrom(long step) {
    return onOwner(() -> all(s -> partFrom.get(s) >= step
        ? CompletableFuture.completedFuture(step) : links.get(s).register(job, trainer, step)).thenApply(v -> null));
  }

  /** Sets the flat dense vector that all trainers start from; see {@link ShardLink#initialize}. */
  public CompletableFuture<Void> initialize(float[] flatDense) {
    return planned(() -> {
      DenseMemory flat = DenseMemory.of(flatDense);
      model.shapes(flat, List.of(), "initial value");
      return onOwner(() -> all(s -> links.get(s).initialize(flat.slice(partition, s))).thenApply(v -> null));
    });
  }

  /**
   * Pushes one step's gradients (geo: deltas) to all shards; a shard without data gets an empty push, for its clock.
   * First checks the whole push for NaN and infinity, so that shards need not. By policy it fails then, or pushes
   * nothing, with weight 0, and reports that it was skipped. Then clips by norm (not in geo), which takes a copy. The
   * dense memory and the arrays are borrowed until the future completes or fails: they are not copied here, and direct
   * memory is sent from where it lies.
   *
   * @param step step from 0
   * @param weight number of examples that the gradient is of
   * @param versions of the {@link Values} that the gradient was computed on; null before the first pull
   * @param flatDense gradient of the flat dense vector, or null; see {@link DenseMemory#of(float[])}
   * @param sparse gradients by table, ids distinct
   */
  public CompletableFuture<Pushed> push(long step, double weight, long[] versions, DenseMemory flatDense,
      List<SparseRows> sparse) {
    return push(step, weight, versions, flatDense, sparse, TrainerProgress.NONE);
  }

  /**
   * Pushes as {@link #push(long, double, long[], DenseMemory, List)}, and reports this trainer's progress to the
   * shards.
   *
   * @param after progress once the push is applied
   */
  public CompletableFuture<Pushed> push(long step, double weight, long[] versions, DenseMemory flatDense,
      List<SparseRows> sparse, TrainerProgress after) {
    return planned(() -> {
      String who = "push of step " + step + " of trainer " + trainer.rank();
      model.shapes(flatDense, sparse, who);
      String bad = model.nonFinite(flatDense, sparse);
      if (bad != null && job.nanPolicy() == NanPolicy.FAIL) {
        throw new InvalidInput(who + " of job " + job.job() + " refused before it was sent: " + bad
            + "; lower the learning rate, clip gradients, or set the NaN policy to skip");
      }
      long[] computedOn = versions == null ? new long[links.size()] : versions.clone();
      boolean clip = bad == null && !job.mode().pushesDeltas();
      DenseMemory dense = bad != null ? null : clip ? model.clipDense(flatDense) : flatDense;
      DenseMemory lent = dense == null ? null : dense.lend();
      List<Push> cut = cut(step, computedOn, lent,
          bad != null ? List.of() : clip ? model.clipSparse(sparse) : sparse);
      double counted = bad != null ? 0 : weight;
      return onOwner(() -> all(lent, s -> links.get(s).push(signed(cut.get(s), s, counted, after)))
          .thenApply(acks -> pushed(acks, bad != null)));
    });
  }

  /**
   * Asks all shards, after all earlier pushes, not to wait for this trainer's steps until it registers again. A trainer
   * does so before it waits in a barrier. See {@link Push#SITTING_OUT}.
   */
  public CompletableFuture<Void> sitOut() {
    return push(Push.SITTING_OUT, 0, null, null, List.of()).thenApply(p -> null);
  }

  /**
   * Pulls the flat dense vector and/or rows for a training step; rows that do not exist are created. {@code sparse} in
   * the answer is in the order of the request. See {@link Pull}.
   */
  public CompletableFuture<Values> pull(long minStep, boolean dense, List<SparseIds> sparse, boolean changed) {
    return pull(minStep, dense ? own() : null, sparse, changed, false);
  }

  /**
   * Pulls as {@link #pull(long, boolean, List, boolean)} does, the dense vector into memory of the caller, borrowed
   * until the future completes. An array then is {@link Values#dense}, which is null for direct memory. A pull that
   * fails may have written a part of it.
   *
   * @param into null if the dense vector is not requested
   */
  public CompletableFuture<Values> pull(long minStep, DenseMemory into, List<SparseIds> sparse, boolean changed) {
    return pull(minStep, into, sparse, changed, false);
  }

  private DenseMemory own() {
    return DenseMemory.of(new float[model.denseNumel()]);
  }

  /**
   * Reads the values as they are now, for evaluation: waits for no other trainer and changes nothing. A row that does
   * not exist is answered with the values that it would be created with.
   */
  public CompletableFuture<Values> read(boolean dense, List<SparseIds> sparse) {
    return pull(0, dense ? own() : null, sparse, false, true);
  }

  /**
   * Reads the dense vector of all shards except lost ones, as {@link #read} does, for a run that has failed because of
   * their loss. Every shard is asked, so that losses become known that have not been noticed yet. Fails if a shard
   * fails for another reason.
   *
   * @param dense flat vector, into which the living shards' elements are written; those of lost shards keep their
   *     values. It belongs to this client until the future completes
   * @return the lost shards
   */
  public CompletableFuture<SortedSet<Integer>> readRemaining(float[] dense) {
    return planned(() -> {
      PullPlan plan = new PullPlan(job, partition, model, DenseMemory.of(dense), List.of(), false, true);
      return onOwner(() -> all(s -> links.get(s).pull(plan.of(s, trainer.rank(), 0))
          .handle((pulled, error) -> isLost(error))).thenApply(ParameterClient::lost));
    });
  }

  /** Returns whether a call has failed because the shard is lost; passes on all other failures. */
  private static boolean isLost(Throwable error) {
    if (error == null || cause(error) instanceof PeerLost) {
      return error != null;
    }
    throw new CompletionException(cause(error));
  }

  private static SortedSet<Integer> lost(List<Boolean> shards) {
    SortedSet<Integer> lost = new TreeSet<>();
    for (int s = 0; s < shards.size(); s++) {
      if (shards.get(s)) {
        lost.add(s);
      }
    }
    return lost;
  }

  private CompletableFuture<Values> pull(long minStep, DenseMemory into, List<SparseIds> sparse, boolean changed,
      boolean readOnly) {
    return planned(() -> {
      DenseMemory lent = into == null ? null : into.lend();
      PullPlan plan = new PullPlan(job, partition, model, lent, sparse, changed, readOnly);
      return onOwner(() -> all(lent, s -> links.get(s).pull(plan.of(s, trainer.rank(), minStep)))
          .thenApply(plan::assemble));
    });
  }

  /** Does the job's shrink of that number on all shards; see {@link ShardLink#shrink}. */
  public CompletableFuture<Shrunk> shrink(long number, boolean endOfDay) {
    return onOwner(() -> all(s -> links.get(s).shrink(number, endOfDay))
        .thenApply(parts -> parts.stream().reduce(Shrunk.NONE, Shrunk::plus)));
  }

  /**
   * Removes this trainer from all shards, after all its pushes.
   *
   * @param succeeded the trainer's run has ended with success
   */
  public CompletableFuture<Void> leave(boolean succeeded) {
    return onOwner(() -> all(s -> links.get(s).leave(succeeded)).thenApply(v -> null));
  }

  /** Returns the hash of all parameters, the same for any number of shards. */
  public CompletableFuture<Long> digest() {
    return onOwner(() -> all(s -> links.get(s).digest())
        .thenApply(parts -> parts.stream().mapToLong(Long::longValue).sum()));
  }

  /** Exports all rows of a table, shard after shard, in slices; {@code sink} is called on the owner. */
  public CompletableFuture<Void> export(String table, RowSink sink) {
    return export(table, Set.of(), sink);
  }

  /** Exports as {@link #export(String, RowSink)} does, without the rows of lost shards. */
  public CompletableFuture<Void> export(String table, Set<Integer> without, RowSink sink) {
    RowSink onOwner = slice -> sink.take(slice).whenCompleteAsync((v, e) -> {}, owner);
    return planned(() -> {
      model.table(table);
      return onOwner(() -> {
        CompletableFuture<Void> done = CompletableFuture.completedFuture(null);
        for (int s = 0; s < links.size(); s++) {
          int shard = s;
          if (without.contains(shard)) {
            continue;
          }
          done = done.thenComposeAsync(v -> counted(shard, links.get(shard).export(table, onOwner)), owner);
        }
        return done;
      });
    });
  }

  /** Closes the links without leaving. */
  public CompletableFuture<Void> close() {
    return onOwner(() -> all(s -> links.get(s).close()).thenApply(v -> null));
  }

  /** Cuts a push into one per shard, whose contributors are still missing. */
  private List<Push> cut(long step, long[] versions, DenseMemory dense, List<SparseRows> sparse) {
    List<SparseSlices> slices = new ArrayList<>(sparse.size());
    for (SparseRows r : sparse) {
      slices.add(new SparseSlices(r.table(), r.ids(), job.sharding()));
    }
    List<Push> pushes = new ArrayList<>(links.size());
    for (int s = 0; s < links.size(); s++) {
      List<SparseRows> rows = new ArrayList<>();
      for (int i = 0; i < slices.size(); i++) {
        SparseSlices ids = slices.get(i);
        if (ids.ids[s].length > 0) {
          SparseTableSpec table = model.table(ids.table);
          rows.add(new SparseRows(ids.table, ids.ids[s], ids.gather(sparse.get(i).values(), s, table.pushWidth()),
              table.counts()));
        }
      }
      boolean denseHere = dense != null && partition.sizeOf(s) > 0;
      pushes.add(new Push(List.of(), step, versions[s], denseHere ? dense.slice(partition, s) : null, rows, true));
    }
    return pushes;
  }

  private Push signed(Push push, int shard, double weight, TrainerProgress after) {
    Contributor me = new Contributor(trainer.rank(), trainer.incarnation(), ++sequences[shard], weight, after);
    return new Push(List.of(me), push.step(), push.version(), push.dense(), push.sparse(), push.finite());
  }

  private static Pushed pushed(List<PushAck> acks, boolean skippedPush) {
    long staleness = 0;
    for (PushAck a : acks) {
      staleness = Math.max(staleness, a.staleness());
      skippedPush |= a.skippedPush();
    }
    return new Pushed(staleness, skippedPush);
  }

  private static <T> CompletableFuture<T> planned(Supplier<CompletableFuture<T>> plan) {
    try {
      return plan.get();
    } catch (RuntimeException | Error e) { // whatever it is: somebody waits for this future
      return CompletableFuture.failedFuture(e);
    }
  }

  private <T> CompletableFuture<T> onOwner(Supplier<CompletableFuture<T>> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    try {
      owner.execute(() -> planned(call).whenComplete((value, error) -> {
        if (error != null) {
          result.completeExceptionally(cause(error));
        } else {
          result.complete(value);
        }
      }));
    } catch (RejectedExecutionException e) {
      result.completeExceptionally(new Cancelled("trainer " + trainer.rank() + " of job " + job.job()
          + " is shutting down; its links are closed"));
    }
    return result;
  }

  private static Throwable cause(Throwable e) {
    return e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
  }

  private <T> CompletableFuture<List<T>> all(IntFunction<CompletionStage<T>> call) {
    return all(null, call);
  }

  /**
   * Returns all shards' answers in shard order, or the first failure, which waits for no answer.
   *
   * @param lent memory that the calls use, no longer than until the result is there; or null
   */
  private <T> CompletableFuture<List<T>> all(DenseMemory lent, IntFunction<CompletionStage<T>> call) {
    CompletableFuture<List<T>> result = new CompletableFuture<>();
    AtomicReferenceArray<T> answers = new AtomicReferenceArray<>(links.size());
    AtomicInteger open = new AtomicInteger(links.size());
    for (int s = 0; s < links.size(); s++) {
      int shard = s;
      counted(shard, call.apply(s)).whenComplete((answer, error) -> {
        if (error != null) {
          fail(result, cause(error), lent);
          return;
        }
        answers.set(shard, answer);
        if (open.decrementAndGet() == 0) {
          List<T> inOrder = new ArrayList<>(links.size());
          for (int i = 0; i < links.size(); i++) {
            inOrder.add(answers.get(i));
          }
          result.complete(inOrder);
        }
      });
    }
    return result;
  }

  /**
   * Fails the result once no call uses the borrowed memory any more; calls to other shards read a copy of what they
   * still need.
   */
  private void fail(CompletableFuture<?> result, Throwable why, DenseMemory lent) {
    if (lent == null || links.size() == 1) {
      result.completeExceptionally(why);
      return;
    }
    try {
      owner.execute(() -> {
        try {
          lent.takeBack();
        } finally { // somebody waits, whatever happens here
          CompletableFuture.allOf(links.stream().map(l -> l.handedOver().toCompletableFuture())
              .toArray(CompletableFuture<?>[]::new)).whenComplete((v, e) -> result.completeExceptionally(why));
        }
      });
    } catch (RejectedExecutionException e) { // the loop that would read it is gone
      result.completeExceptionally(why);
    }
  }

  private <T> CompletionStage<T> counted(int shard, CompletionStage<T> answer) {
    unanswered.incrementAndGet(shard);
    return answer.whenComplete((value, error) -> unanswered.decrementAndGet(shard));
  }
}
