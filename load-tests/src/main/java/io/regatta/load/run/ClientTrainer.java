package io.regatta.load.run;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.client.ParameterClient.Pushed;
import io.regatta.core.client.ParameterClient.Values;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.ModelSpec;
import io.regatta.load.process.WorkerLoop;
import io.regatta.protocol.client.ParameterServerControl;
import io.regatta.protocol.network.VertxNetwork;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * The only trainer of an async job on one of {@link ParameterServers}, with all layers between a model thread and the
 * stream: {@link ParameterClient}, its hop to the owner's loop, {@link ReopeningShardLink}. Used by one thread, which
 * stands for a model thread and waits for each answer.
 */
public final class ClientTrainer {
  private static final long LIMIT_SECONDS = 60;

  private final ParameterClient client;
  private long pushes;
  private long[] versions;

  private ClientTrainer(ParameterClient client) {
    this.client = client;
  }

  /**
   * Asks the server for its shard's address, connects, registers and initialises the dense vector. Blocks.
   *
   * @param port control port
   */
  public static ClientTrainer open(WorkerLoop loop, Vertx vertx, int port, StreamOptions options, ModelSpec model,
      float[] dense) throws Exception {
    ParameterServerControl control = new ParameterServerControl(new VertxNetwork(vertx, options), "127.0.0.1", port);
    Shard shard = loop.call(() -> control.shardMap().eventually(control::close)).getShards(0);
    TensorStreamClient streams = new TensorStreamClient(vertx, options);
    Supplier<Future<GrpcShardLink>> open = () -> streams.open(shard.getHost(), shard.getPort(),
        StreamPaths.PARAMETER_SHARD).map(stream -> new GrpcShardLink(stream, "shard 0 at port " + shard.getPort(), 0,
            shard.getIncarnation(), () -> 1, j -> Future.failedFuture("no driver asks for a digest"), options));
    ShardLink link = loop.call(() -> ReopeningShardLink.open(VertxLoop.current(vertx), open, options.maxRequests()));
    JobSpec job = LoneJob.spec("load", ShardTrainer.MIN_BLOCK, model);
    ClientTrainer trainer = new ClientTrainer(new ParameterClient(job, ShardTrainer.ID, List.of(link), loop));
    answer(trainer.client.register());
    answer(trainer.client.initialize(dense));
    return trainer;
  }

  /** Pushes the gradients of the next step, and returns when they are applied. */
  public Pushed push(DenseMemory dense, List<SparseRows> sparse) throws Exception {
    return answer(client.push(pushes++, 1, versions, dense, sparse));
  }

  /** Pulls for the next step; the dense vector into this memory, or none if it is null. */
  public Values pull(DenseMemory into, List<SparseIds> sparse) throws Exception {
    Values values = answer(client.pull(pushes, into, sparse, false));
    versions = values.versions();
    return values;
  }

  private static <T> T answer(CompletableFuture<T> future) throws Exception {
    try {
      return future.get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
