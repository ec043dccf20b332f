package io.regatta.trainer;

import io.regatta.collective.Collectives;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.training.session.PeerRanks;
import io.vertx.core.Future;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** The calls of a rank to its peers, carried out by {@link Collectives}. Called on the model thread. */
abstract class CollectivePeers implements PeerRanks {

  /** Makes a call with the present collectives. */
  abstract CompletableFuture<Void> call(Function<Collectives, Future<Void>> call);

  @Override
  public final CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
    return call(ranks -> ranks.allReduce(Tensor.of(floats).on(wire), ReduceOp.SUM));
  }

  @Override
  public final CompletableFuture<Boolean> sum(TensorMemory memory, int from, int to, WireType wire) {
    Tensor tensor = Tensor.of(memory, from, to).on(wire).watched();
    return call(ranks -> ranks.allReduce(tensor, ReduceOp.SUM)).thenApply(summed -> tensor.isKnownFinite());
  }

  @Override
  public final CompletableFuture<Void> gather(long[] parts) {
    return call(ranks -> ranks.allGather(Tensor.of(parts)));
  }

  @Override
  public final CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
    return call(ranks -> ranks.broadcast(Tensor.of(floats), root));
  }
}
