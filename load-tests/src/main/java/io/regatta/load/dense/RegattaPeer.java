package io.regatta.load.dense;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.load.run.Loop;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.ShardTrainer;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import java.util.List;

/** Regatta's own: a shard behind its tensor stream and a trainer's link to it, each on a loop of its own. */
final class RegattaPeer implements Peer {
  private final Transport transport;
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());

  RegattaPeer(Transport transport) {
    this.transport = transport;
  }

  private StreamOptions options(DenseTask task) {
    return StreamOptions.defaults().withChunkBytes(task.chunkBytes()).withTransport(transport);
  }

  @Override
  public int serve(DenseTask task) throws Exception {
    return ShardServer.listen(Loop.on(vertx), vertx, options(task));
  }

  @Override
  public Client connect(int port, DenseTask task) throws Exception {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("w", List.of(task.elements()))),
        OptimizerSpec.sgd(DenseTask.RATE), List.of());
    ShardTrainer trainer = ShardTrainer.open(Loop.on(vertx), vertx, port, options(task), model, task.initial());
    DenseMemory gradient = DenseMemory.of(task.gradient());
    DenseMemory values = DenseMemory.of(new float[task.elements()]);
    return new Client() {
      @Override
      public void push() throws Exception {
        trainer.call(() -> trainer.push(gradient, List.of()));
      }

      @Override
      public float[] pull() throws Exception {
        trainer.call(() -> trainer.pull(values, List.of()));
        return values.array();
      }
    };
  }

  @Override
  public void close() throws Exception {
    vertx.close().toCompletionStage().toCompletableFuture().get();
  }
}
