package io.regatta.collective;

import io.regatta.core.collective.Choices.Choice;
import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Schedules;
import io.regatta.core.collective.Step;
import io.regatta.core.collective.Tensor;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.Wait;
import io.regatta.protocol.CollectiveFrames;
import io.regatta.protocol.tensor.CollectiveCall;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * One rank's side of one generation of a group: collective calls with the other ranks. Owned by the event loop of its
 * {@link CollectivePort}; may be called on any thread, which must be the same one for calls whose order matters. Futures
 * complete on the caller's context, or on the port's if it has none.
 *
 * <p>All ranks make the same calls in the same order, as in MPI and Gloo: a call is matched with the others' by its number.
 * Several may be under way. A tensor is lent to the call until its future completes, and then holds the result, the same
 * bits at all ranks. Waiting has no limit; what is waited for stands in {@code /why}.
 *
 * <p>A rank that is lost fails all calls under way, at all ranks, with {@code PeerLost} naming it; one that makes another
 * call with {@code InvalidInput} naming both. After that, or when it is closed, every call fails: a new generation is
 * formed by {@link CollectivePort#form}.
 */
public final class Collectives {
  private final Membership ranks;
  private final CollectiveOptions options;
  private final Context context;
  private final int[] hostOf;
  /** By rank; null for this one. */
  private final Link[] links;
  private final Tensor.Workspace workspace;
  private final Set<CollectiveRun> runs = new LinkedHashSet<>();
  private final List<Runnable> whenReturned = new ArrayList<>();
  private final Promise<Void> formed = Promise.promise();
  private final Supplier<Future<Void>> closing;
  private long calls;
  /** Messages that a stream has not done with. */
  private int lent;
  private RegattaException broken;
  private Future<Void> closed;

  /** @param closing called once, on the loop, when this is of no use any more and its streams have ended */
  Collectives(Context context, Membership ranks, CollectiveOptions options, Tensor.Workspace workspace,
      Supplier<Future<Void>> closing) {
    this.context = context;
    this.ranks = ranks;
    this.options = options;
    this.workspace = workspace;
    this.closing = closing;
    hostOf = hostOf(ranks.endpoints());
    links = new Link[ranks.worldSize()];
    for (int r = 0; r < links.length; r++) {
      links[r] = r == ranks.rank() ? null : new Link(this, r, ranks.rank() < r);
    }
    formedIfAllAreThere();
  }

  /** Of each rank the first rank of its host. */
  private static int[] hostOf(List<String> endpoints) {
    List<String> hosts = endpoints.stream().map(e -> e.substring(0, Math.max(0, e.lastIndexOf(':')))).toList();
    return hosts.stream().mapToInt(hosts::indexOf).toArray();
  }

  /** This rank. */
  public int rank() {
    return ranks.rank();
  }

  /** How many ranks there are. */
  public int worldSize() {
    return ranks.worldSize();
  }

  /** Of the group. */
  public long generation() {
    return ranks.generation();
  }

  /** The event loop on which everything happens: calls made there need no hand-over between threads. */
  public Context context() {
    return context;
  }

  /** Reduces all ranks' tensors, which are of one length; each then holds the result. */
  public Future<Void> allReduce(Tensor tensor, ReduceOp op) {
    return call(Operation.ALL_REDUCE, tensor, op, 0);
  }

  /** Copies the root's tensor to all. */
  public Future<Void> broadcast(Tensor tensor, int root) {
    return call(Operation.BROADCAST, tensor, ReduceOp.SUM, root);
  }

  /** Reduces all ranks' tensors to the root's; what the others' hold then is undefined. */
  public Future<Void> reduce(Tensor tensor, ReduceOp op, int root) {
    return call(Operation.REDUCE, tensor, op, root);
  }

  /**
   * Gathers each rank's part of a tensor of the whole length: rank r gives the part r of
   * {@link io.regatta.core.collective.Parts}, and each then holds all.
   */
  public Future<Void> allGather(Tensor tensor) {
    return call(Operation.ALL_GATHER, tensor, ReduceOp.SUM, 0);
  }

  /**
   * Reduces all ranks' tensors, each rank to its own part, which is part r of {@link io.regatta.core.collective.Parts}; what
   * its other parts hold then is undefined.
   */
  public Future<Void> reduceScatter(Tensor tensor, ReduceOp op) {
    return call(Operation.REDUCE_SCATTER, tensor, op, 0);
  }

  /** Completes when all ranks have called it. */
  public Future<Void> barrier() {
    return call(Operation.BARRIER, Tensor.of(new float[0]), ReduceOp.SUM, 0);
  }

  private Future<Void> call(Operation operation, Tensor tensor, ReduceOp op, int root) {
    return onOwner(() -> start(operation, tensor, op, root));
  }

  private <T> Future<T> onOwner(Supplier<Future<T>> call) {
    ContextInternal caller = ContextInternal.current();
    if (caller == context) {
      return call.get();
    }
    Promise<T> promise = caller == null ? Promise.promise() : caller.promise();
    context.runOnContext(v -> {
      Future<T> made;
      try {
        made = call.get();
      } catch (RuntimeException | Error e) {
        made = Future.failedFuture(e);
      }
      made.onComplete(promise);
    });
    return promise.future();
  }

  private Future<Void> start(Operation operation, Tensor tensor, ReduceOp op, int root) {
    if (broken != null) {
      return Future.failedFuture(broken);
    }
    try {
      if (root < 0 || root >= worldSize()) {
        throw new InvalidInput(where() + ": " + operation.word() + " with root " + root + ", but there are ranks 0 to "
            + (worldSize() - 1));
      }
      if (operation.reduces()) {
        tensor.check(op);
      }
      long bytes = (long) tensor.size() * tensor.wire().bytes();
      Choice choice = options.choices().choose(operation, bytes, tensor.wire(), hostOf);
      CollectiveRun run = new CollectiveRun(CollectiveFrames.call(calls, operation, op, root, tensor, choice),
          Schedules.of(operation, choice.algorithm(), tensor.size(), rank(), root,
              Math.max(1, choice.chunkBytes() / tensor.wire().bytes()), hostOf), tensor, op);
      calls++;
      return begin(run);
    } catch (RegattaException e) { // this rank does not make the call: the others must not wait for it
      fail(e);
      return Future.failedFuture(e);
    }
  }

  private Future<Void> begin(CollectiveRun run) {
    if (run.isOver()) {
      return Future.succeededFuture();
    }
    runs.add(run);
    for (int i = 0; i < run.steps() && broken == null; i++) {
      Link link = links[run.step(i).peer()];
      link.add(run, i);
      if (!run.links.contains(link)) {
        run.links.add(link);
      }
    }
    pump(run);
    return run.promise.future();
  }

  private static void pump(CollectiveRun run) {
    for (int i = 0; i < run.links.size(); i++) {
      run.links.get(i).pump();
    }
  }

  /** A step of a call has been done. */
  void done(CollectiveRun run, int index) {
    if (broken != null) {
      return;
    }
    Step step = run.step(index);
    if (step.completes()) {
      run.tensor.complete(run.op, worldSize(), step.from(), step.count(), workspace);
    }
    run.done(index);
    if (run.isOver()) {
      runs.remove(run);
      run.promise.complete();
    } else {
      pump(run);
    }
  }

  /** So many more messages are with a stream. */
  void lent(int more) {
    lent += more;
    if (lent == 0 && !whenReturned.isEmpty()) {
      List<Runnable> told = List.copyOf(whenReturned);
      whenReturned.clear();
      told.forEach(Runnable::run);
    }
  }

  private void whenReturned(Runnable action) {
    if (lent == 0) {
      action.run();
    } else {
      whenReturned.add(action);
    }
  }

  Tensor.Workspace workspace() {
    return workspace;
  }

  /** For messages. */
  String where() {
    return "group " + ranks.group() + ", generation " + ranks.generation();
  }

  /** Whether an error that a peer has told says already what happened where. */
  boolean names(RegattaException e) {
    return String.valueOf(e.getMessage()).startsWith(where());
  }

  Link link(int peer) {
    return links[peer];
  }

  /** Completes when there is a stream to each rank. */
  Future<Void> formed() {
    return formed.future();
  }

  /** A stream has been attached. */
  void formedIfAllAreThere() {
    if (missing().isEmpty()) {
      formed.tryComplete();
    }
  }

  /** Ranks to which there is no stream yet. */
  List<Integer> missing() {
    List<Integer> missing = new ArrayList<>();
    for (Link link : links) {
      if (link != null && !link.isOpen()) {
        missing.add(link.peer());
      }
    }
    return missing;
  }

  /** Ends all calls, here and at the other ranks; the callers hear of it when no stream uses their memory any more. */
  void fail(RegattaException why) {
    if (broken != null) {
      return;
    }
    broken = why;
    RegattaException told = why instanceof Cancelled ? new PeerLost(why.getMessage()) : why;
    for (Link link : links) {
      if (link != null) {
        link.abort(told);
      }
    }
    whenReturned(() -> {
      List<CollectiveRun> failed = List.copyOf(runs);
      runs.clear();
      failed.forEach(run -> run.promise.fail(why));
      formed.tryFail(why);
    });
  }

  /** The calls under way and for whom each waits: the material of {@code /why}. On the loop. */
  List<Wait> waits() {
    List<Wait> waits = new ArrayList<>();
    for (CollectiveRun run : runs) {
      CollectiveCall call = run.call;
      List<Wait.Peer> peers = run.links.stream().filter(link -> link.waitsFor(run))
          .map(link -> new Wait.Peer("rank " + link.peer(), -2, link.lastSeenMillis())).toList();
      waits.add(new Wait("rank " + rank(), CollectiveFrames.words(call), where(), run.sinceMillis, peers));
    }
    List<Integer> missing = broken == null ? missing() : List.of();
    if (!missing.isEmpty()) {
      waits.add(new Wait("rank " + rank(), "streams of the group", where(), System.currentTimeMillis(),
          missing.stream().map(r -> Wait.Peer.named("rank " + r)).toList()));
    }
    return waits;
  }

  /**
   * Ends it. Calls under way fail with {@code Cancelled}, and at the other ranks with {@code PeerLost}; if there are none, the
   * others' calls that do not need this rank go on.
   */
  public Future<Void> close() {
    return onOwner(() -> {
      if (closed == null) {
        closed = end();
      }
      return closed;
    });
  }

  private Future<Void> end() {
    if (broken == null && runs.isEmpty() && missing().isEmpty()) {
      broken = new Cancelled(where() + ": rank " + rank() + " has been closed");
      Promise<Void> returned = Promise.promise();
      whenReturned(returned::complete);
      return returned.future().compose(v -> {
        List<Future<Void>> ends = new ArrayList<>();
        for (Link link : links) {
          if (link != null) {
            ends.add(link.close());
          }
        }
        return Future.join(ends);
      }).transform(v -> closing.get());
    }
    fail(new Cancelled(where() + ": rank " + rank() + " has been closed with calls under way"));
    return closing.get();
  }
}
