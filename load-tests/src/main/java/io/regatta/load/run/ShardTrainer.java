package io.regatta.load.run;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.ModelSpec;
import io.regatta.load.process.WorkerLoop;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.function.Supplier;

/**
 * The only trainer of an async job on a {@link ShardServer}, by the link alone: the capacity of a stream. Owned by its
 * loop, except {@link #call}.
 */
public final class ShardTrainer {
  static final int MIN_BLOCK = 8192;
  static final TrainerId ID = new TrainerId(0, 1);

  private final WorkerLoop loop;
  private final TensorStream stream;
  private final ShardLink link;
  private final DensePartition partition;
  private long pushes;
  private long version;

  private ShardTrainer(WorkerLoop loop, TensorStream stream, ShardLink link, DensePartition partition) {
    this.loop = loop;
    this.stream = stream;
    this.partition = partition;
    this.link = link;
  }

  /** Connects, registers and initialises the dense vector. Blocks. */
  public static ShardTrainer open(WorkerLoop loop, Vertx vertx, int port, StreamOptions options, ModelSpec model,
      float[] dense) throws Exception {
    JobSpec job = LoneJob.spec("load", MIN_BLOCK, model);
    DensePartition partition = DensePartition.of(model.dense(), 1, MIN_BLOCK);
    ShardTrainer trainer = loop.call(() -> new TensorStreamClient(vertx, options)
        .open("127.0.0.1", port, StreamPaths.PARAMETER_SHARD)
        .map(stream -> new ShardTrainer(loop, stream, new GrpcShardLink(stream, "shard 0 at port " + port, 0, 0, () -> 1,
            j -> Future.failedFuture("no driver asks for a digest"), options), partition)));
    loop.call(() -> Future.fromCompletionStage(trainer.link.register(job, ID, 0)));
    loop.call(() -> Future.fromCompletionStage(trainer.link.initialize(DenseMemory.of(dense))));
    return trainer;
  }

  /** Makes a call on the loop and waits for it, from another thread. */
  public <T> T call(Supplier<Future<T>> call) throws Exception {
    return loop.call(call);
  }

  /** Stops reading the shard's messages, as a trainer does whose memory or disk is busy; or continues. */
  public void reads(boolean on) throws Exception {
    loop.call(() -> Future.succeededFuture(on ? stream.resume() : stream.pause()));
  }

  /** Pushes the gradients of the next step. */
  public Future<PushAck> push(DenseMemory dense, List<SparseRows> sparse) {
    long step = pushes++;
    Contributor self = new Contributor(ID.rank(), ID.incarnation(), pushes, 1);
    return Future.fromCompletionStage(link.push(new Push(List.of(self), step, version, dense, sparse)))
        .onSuccess(ack -> version = ack.version());
  }

  /** Pulls for the next step; the dense vector into this memory, or none if it is null. */
  public Future<Pulled> pull(DenseMemory into, List<SparseIds> sparse) {
    DenseSlice slice = into == null ? null : into.slice(partition, 0);
    return Future.fromCompletionStage(link.pull(new Pull(ID.rank(), pushes, into != null, slice, sparse, false, false)));
  }
}
