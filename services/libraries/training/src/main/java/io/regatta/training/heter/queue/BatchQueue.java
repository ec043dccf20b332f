package io.regatta.training.heter.queue;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.loop.Clock;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutResult;
import io.regatta.protocol.tensor.CutSignature;
import io.regatta.training.heter.PartHost;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * The queue of batches of one heter worker, in the order of their arrival. Owned by an executor that runs one task at a
 * time: {@link #add} and the other methods of the service are called there. The methods of {@link PartHost} may be
 * called on any thread; the model thread does. Its callers bound the batches that wait.
 *
 * <p>A batch is answered once: with its result, or with the reason for which it has none. Several batches become one
 * work if they are next to each other, are of the same values, and have {@code max_batch} examples at most together.
 * The queue never waits for more of them.
 */
public final class BatchQueue implements PartHost {

  /** Batches that were dropped, of one life of a trainer, in the order of their arrival. */
  public record Dropped(List<CutBatch> batches) {

    /** Returns for example {@code 2 batches of steps 17, 18}. */
    @Override
    public String toString() {
      Collection<Long> steps = new TreeSet<>(batches.stream().map(CutBatch::getStep).toList());
      return batches.size() + (batches.size() == 1 ? " batch of step " : " batches of " + (steps.size() == 1 ? "step " : "steps "))
          + String.join(", ", steps.stream().map(String::valueOf).toList());
    }
  }

  private record Waiting(BatchToCompute batch, long sinceNanos, CompletableFuture<ComputedBatch> answer) {

    BatchId id() {
      return batch.id();
    }

    boolean isOfReplica(BatchId other) {
      return id().trainer().rank() == other.trainer().rank() && id().replica() == other.replica();
    }
  }

  private final Executor owner;
  private final Clock clock;
  private final int maxBatch;
  private final CompletableFuture<Void> wanted = new CompletableFuture<>();
  private final CompletableFuture<CutSignature> ready = new CompletableFuture<>();
  private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
  private boolean gatherable;
  /** The model thread's request for work; null: it computes, or has not asked yet. */
  private CompletableFuture<Optional<PartWork>> asked;
  private long askedMillis;
  /** Why nothing is queued any more; null: the queue is open. */
  private RegattaException closed;
  private final QueueCounts counts = new QueueCounts();

  /**
   * Creates an empty queue.
   *
   * @param owner runs tasks one after the other
   * @param maxBatch examples of several batches that are computed as one; 0: each batch alone
   */
  public BatchQueue(Executor owner, Clock clock, int maxBatch) {
    this.owner = owner;
    this.clock = clock;
    this.maxBatch = maxBatch;
  }

  /** Notes that a trainer has opened a stream. */
  public void want() {
    wanted.complete(null);
  }

  /** Returns what crosses the cut, as this process has it; completes on the owner once the part is built. */
  public CompletionStage<CutSignature> signature() {
    return ready;
  }

  /**
   * Queues a batch, whose memory stays as it is until the future completes, on the owner. A batch of the same rank and
   * replica that still waits is replaced: it was sent again.
   */
  public CompletableFuture<ComputedBatch> add(BatchToCompute batch) {
    Waiting added = new Waiting(batch, clock.nanos(), new CompletableFuture<>());
    RegattaException refusal = closed != null ? closed : replace(added.id());
    if (refusal != null) {
      added.answer.completeExceptionally(refusal);
      return added.answer;
    }
    waiting.add(added);
    serve();
    return added.answer;
  }

  /** Removes a waiting batch of the same rank and replica; returns a refusal if that is of a later life of the rank. */
  private RegattaException replace(BatchId id) {
    for (Iterator<Waiting> it = waiting.iterator(); it.hasNext(); ) {
      Waiting other = it.next();
      if (other.isOfReplica(id)) {
        if (other.id().trainer().incarnation() > id.trainer().incarnation()) {
          return new StaleGeneration(named(id) + " is of a former life of trainer " + id.trainer().rank());
        }
        it.remove();
        other.answer.completeExceptionally(new StaleGeneration(named(other.id()) + " is replaced: the same replica has sent "
            + (id.number() == other.id().number() ? "it again" : "batch " + id.number())));
        return null;
      }
    }
    return null;
  }

  private static String named(BatchId id) {
    return "batch " + id.number() + " of replica " + id.replica() + " of trainer " + id.trainer().rank();
  }

  /** Drops the waiting batches of a life of a trainer. Their futures fail, for nobody. */
  public Dropped drop(TrainerId trainer) {
    List<CutBatch> dropped = new ArrayList<>();
    for (Waiting other : List.copyOf(waiting)) {
      if (other.id().trainer().equals(trainer)) {
        waiting.remove(other);
        dropped.add(other.batch.head());
        other.answer.completeExceptionally(new Cancelled("trainer " + trainer.rank() + " is gone"));
      }
    }
    counts.dropped(dropped.size());
    return new Dropped(dropped);
  }

  /** Ends the queue: later batches fail with the reason, and the model thread gets no work beyond what waits now. */
  public void closeAfterWaiting(RegattaException reason) {
    refuse(reason);
    serve();
  }

  /** Ends the queue: the model thread gets no more work, and what waits fails with the reason. */
  public void close(RegattaException reason) {
    refuse(reason);
    List<Waiting> left = List.copyOf(waiting);
    waiting.clear();
    left.forEach(other -> other.answer.completeExceptionally(reason));
    serve();
  }

  private void refuse(RegattaException reason) {
    if (closed == null) {
      closed = reason;
      wanted.complete(null);
      ready.completeExceptionally(reason);
    }
  }

  /** Returns the number of batches that wait. */
  public int waiting() {
    return waiting.size();
  }

  /** Returns since when the model thread waits for a batch, ms since the epoch; -1 if it does not. */
  public long idleSinceMillis() {
    return asked == null ? -1 : askedMillis;
  }

  /** Returns the counts of this queue. Any thread may read them. */
  public QueueCounts counts() {
    return counts;
  }

  @Override
  public CompletionStage<Void> wanted() {
    return wanted;
  }

  @Override
  public void ready(CutSignature own, boolean canBeGathered) {
    onOwner(() -> {
      gatherable = canBeGathered;
      ready.complete(own);
    }, e -> { });
  }

  @Override
  public CompletionStage<Optional<PartWork>> next() {
    CompletableFuture<Optional<PartWork>> work = new CompletableFuture<>();
    onOwner(() -> {
      asked = work;
      askedMillis = clock.epochMillis();
      serve();
    }, work::completeExceptionally);
    return work;
  }

  /** Gives the model thread the next work, if it has asked for some and there is any. */
  private void serve() {
    if (asked == null || closed == null && waiting.isEmpty()) {
      return;
    }
    CompletableFuture<Optional<PartWork>> answer = asked;
    asked = null;
    answer.complete(waiting.isEmpty() ? Optional.empty() : Optional.of(work(take())));
  }

  private PartWork work(List<Waiting> taken) {
    long begunNanos = clock.nanos();
    counts.waited(taken.stream().mapToLong(batch -> begunNanos - batch.sinceNanos).sum());
    return new PartWork(taken.stream().map(Waiting::batch).toList(),
        results -> over(taken, begunNanos, () -> computed(taken, results, begunNanos)),
        refusal -> over(taken, begunNanos, () -> taken.forEach(batch -> batch.answer.completeExceptionally(refusal))),
        () -> taken.stream().map(List::of).map(this::work).toList());
  }

  /** Takes the first waiting batch, and those after it that may be computed with it. */
  private List<Waiting> take() {
    List<Waiting> taken = new ArrayList<>();
    Waiting head = waiting.peek();
    long examples = 0;
    while (!waiting.isEmpty()) {
      CutBatch next = waiting.peek().batch.head();
      examples += next.getExamples();
      if (!taken.isEmpty() && (!gatherable || examples > maxBatch || !isOfSameValues(head.batch.head(), next))) {
        break;
      }
      Waiting one = waiting.remove();
      taken.add(one);
    }
    return taken;
  }

  private static boolean isOfSameValues(CutBatch one, CutBatch other) {
    return one.getValuesOf() >= 0 && one.getValuesOf() == other.getValuesOf();
  }

  /** Continues on the owner after the model thread has ended a work. */
  private void over(List<Waiting> taken, long begunNanos, Runnable answer) {
    long nanos = clock.nanos() - begunNanos;
    onOwner(() -> {
      counts.computed(taken.size(), taken.stream().mapToLong(batch -> batch.batch.head().getExamples()).sum(), nanos);
      answer.run();
    }, e -> { });
  }

  private void computed(List<Waiting> taken, List<ComputedBatch> results, long begunNanos) {
    if (results.size() != taken.size()) {
      taken.forEach(batch -> batch.answer.completeExceptionally(new InvalidInput("the part gave " + results.size()
          + " results for " + taken.size() + " batches")));
      return;
    }
    for (int i = 0; i < taken.size(); i++) {
      ComputedBatch result = results.get(i);
      CutResult head = result.head().toBuilder().setWaitedNs(begunNanos - taken.get(i).sinceNanos).build();
      taken.get(i).answer.complete(new ComputedBatch(result.id(), head, result.tensors()));
    }
  }

  private void onOwner(Runnable task, Consumer<RegattaException> over) {
    try {
      owner.execute(task);
    } catch (RejectedExecutionException e) {
      over.accept(new Cancelled("this heter worker is stopped"));
    }
  }
}
