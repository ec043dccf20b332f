package io.regatta.load.sparse;

import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.load.process.WorkerLoop;
import io.regatta.load.run.ClientTrainer;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import java.util.List;

/** Regatta's trainer: a table of a parameter server. */
final class RegattaRows implements RowClient {
  static final StreamOptions OPTIONS = StreamOptions.defaults().withTransport(Transport.GRPC);
  private static final String TABLE = "embedding";

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final ClientTrainer trainer;

  RegattaRows(int port) throws Exception {
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("bias", List.of(1))), OptimizerSpec.sgd(0.01),
        List.of(new SparseTableSpec(TABLE, SparseDriver.DIM, InitializerSpec.uniform(-0.1f, 0.1f),
            OptimizerSpec.of("adagrad", AdagradRows.RATE))));
    trainer = ClientTrainer.open(WorkerLoop.on(vertx), vertx, port, OPTIONS, model, new float[1]);
  }

  @Override
  public float[] pull(long[] ids) throws Exception {
    return trainer.pull(null, List.of(new SparseIds(TABLE, ids))).sparse().get(0).values();
  }

  @Override
  public void push(long[] ids, float[] gradients) throws Exception {
    trainer.push(null, List.of(new SparseRows(TABLE, ids, gradients)));
  }

  @Override
  public void close() {
    vertx.close();
  }
}
