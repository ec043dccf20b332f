package io.regatta.load.dense;

import io.regatta.core.dense.DenseMemory;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.ShardServer;
import io.regatta.load.run.ShardTrainer;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import java.util.List;

/**
 * Regatta's stream alone: a shard with its sessions and a trainer's link to it, each on a loop of its own, from arrays
 * and to arrays. The difference to {@link RegattaPeer} is the cost of server and client.
 */
final class LinkPeer implements Peer {
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());

  private static StreamOptions options(DenseTask task) {
    return task.options().withTransport(Transport.GRPC);
  }

  @Override
  public int serve(DenseTask task) throws Exception {
    return ShardServer.listen(WorkerLoop.on(vertx), vertx, options(task));
  }

  @Override
  public Client connect(int port, DenseTask task) throws Exception {
    ShardTrainer trainer = ShardTrainer.open(WorkerLoop.on(vertx), vertx, port, options(task), task.model(), task.initial());
    DenseMemory gradient = DenseMemory.of(task.gradient());
    DenseMemory values = DenseMemory.of(new float[task.elements()]);
    return new Client() {
      @Override
      public void push() throws Exception {
        trainer.call(() -> trainer.push(gradient, List.of()));
      }

      @Override
      public void pull() throws Exception {
        trainer.call(() -> trainer.pull(values, List.of()));
      }

      @Override
      public float[] values() {
        return values.array();
      }
    };
  }

  @Override
  public void close() throws Exception {
    WorkerLoop.await(vertx.close());
  }
}
