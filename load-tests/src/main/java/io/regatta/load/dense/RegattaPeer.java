package io.regatta.load.dense;

import io.regatta.core.dense.DenseMemory;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.ClientTrainer;
import io.regatta.load.run.ParameterServers;
import io.regatta.load.run.Secured;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.List;

/** Regatta in its usual use: a parameter server, and a trainer's client from and to an engine's memory. */
final class RegattaPeer implements Peer {
  private final Transport transport;
  private final NodeConfig node;
  private final PeerSecurity security;
  private final Vertx vertx = Vertx.vertx(PlainVertx.options());

  /** @param certificates directory of those to use; null: no TLS and no token */
  RegattaPeer(Transport transport, Path certificates) {
    this.transport = transport;
    node = Secured.node(certificates);
    security = node.peerSecurity();
  }

  private StreamOptions options(DenseTask task) {
    return task.options().withTransport(transport).withSecurity(security);
  }

  @Override
  public int serve(DenseTask task) throws Exception {
    return ParameterServers.start(vertx, options(task), node);
  }

  @Override
  public Client connect(int port, DenseTask task) throws Exception {
    ClientTrainer trainer =
        ClientTrainer.open(WorkerLoop.on(vertx), vertx, port, options(task), task.model(), task.initial());
    TrainerMemory memory = new TrainerMemory(task);
    DenseMemory gradient = DenseMemory.of(memory.gradient());
    DenseMemory values = DenseMemory.of(memory.values());
    return new Client() {
      @Override
      public void push() throws Exception {
        trainer.push(gradient, List.of());
      }

      @Override
      public void pull() throws Exception {
        trainer.pull(values, List.of());
      }

      @Override
      public float[] values() {
        return memory.toArray();
      }
    };
  }

  @Override
  public void close() throws Exception {
    WorkerLoop.await(vertx.close());
  }
}
