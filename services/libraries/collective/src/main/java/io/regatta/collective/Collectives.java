package io.regatta.collective;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.loop.Loop;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Supplier;

/**
 * One rank's side of one generation of a group: collective calls with the other ranks. Owned by the event loop of its
 * {@link CollectivePort}. Any thread may call it; calls whose order matters must come from one thread. Futures complete
 * on the caller's context, or on the port's if it has none.
 *
 * <p>All ranks make the same calls in the same order, as in MPI and Gloo: a call is matched with the others' by its
 * number. Several may be under way. A tensor is borrowed by the call until its future completes, with success or not.
 * After success it holds the result, the same bits at all ranks. Waiting has no limit while all ranks live;
 * {@code /why} shows the wait.
 *
 * <p>A rank that is lost fails all calls under way, at all ranks, with {@code PeerLost} naming it; one that makes
 * another call with {@code InvalidInput} naming both. After that, or when it is closed, every call fails: a new
 * generation is formed by {@link CollectivePort#form}.
 */
public final class Collectives {
  private final Mesh mesh;

  Collectives(Mesh mesh) {
    this.mesh = mesh;
  }

  /** Returns this rank. */
  public int rank() {
    return mesh.rank();
  }

  /** Returns how many ranks there are. */
  public int worldSize() {
    return mesh.ranks().worldSize();
  }

  /** Returns the generation of the group. */
  public long generation() {
    return mesh.ranks().generation();
  }

  /** Returns the loop on which everything happens: calls made there need no hand-over between threads. */
  public Loop loop() {
    return mesh.loop();
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
   * {@link io.regatta.core.collective.schedule.Parts}, and each then holds all.
   */
  public Future<Void> allGather(Tensor tensor) {
    return call(Operation.ALL_GATHER, tensor, ReduceOp.SUM, 0);
  }

  /**
   * Reduces all ranks' tensors, each rank to its own part, which is part r of {@link io.regatta.core.collective.schedule.Parts}; what
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
    return onOwner(() -> mesh.start(operation, tensor, op, root));
  }

  private <T> Future<T> onOwner(Supplier<Future<T>> call) {
    if (mesh.loop().isCurrent()) {
      return call.get();
    }
    Promise<T> promise = VertxLoop.promiseOfCaller();
    mesh.loop().execute(() -> call.get().onComplete(promise));
    return promise.future();
  }

  /**
   * Closes this rank's side. Calls under way fail with {@code Cancelled}, and at the other ranks with {@code PeerLost}.
   * If there are none, the others' calls that do not need this rank continue.
   */
  public Future<Void> close() {
    return onOwner(mesh::close);
  }
}
