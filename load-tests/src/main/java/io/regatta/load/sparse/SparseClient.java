package io.regatta.load.sparse;

import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.load.run.ClientTrainer;
import io.regatta.load.run.Loop;
import io.regatta.load.run.Task;
import io.regatta.load.run.ZipfBatches;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The process of a trainer: {@code fill} bears all rows, {@code pull} and {@code push} take batches of Zipf's ids, one
 * request after another. Ids and gradients are made and de-duplicated beforehand.
 */
final class SparseClient implements Task {
  static final StreamOptions OPTIONS = StreamOptions.defaults().withTransport(Transport.GRPC);
  static final int DIM = 10;
  private static final String TABLE = "embedding";
  private static final int BATCHES = 64;
  private static final int FILL_ROWS = 50_000;
  private static final int SEED = 7;

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());
  private final ClientTrainer trainer;
  private final int rows;
  private final long[][] ids;
  private final float[][] gradients = new float[BATCHES][];
  private int next;
  private long moved;

  SparseClient(int port, int rows) throws Exception {
    this.rows = rows;
    ModelSpec model = new ModelSpec(1, List.of(new DenseVariable("bias", List.of(1))), OptimizerSpec.sgd(0.01),
        List.of(new SparseTableSpec(TABLE, DIM, InitializerSpec.uniform(-0.1f, 0.1f), OptimizerSpec.adagrad(0.01))));
    trainer = ClientTrainer.open(Loop.on(vertx), vertx, port, OPTIONS, model, new float[1]);
    ids = ZipfBatches.distinct(BATCHES, rows, SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int b = 0; b < BATCHES; b++) {
      gradients[b] = new float[ids[b].length * DIM];
      for (int i = 0; i < gradients[b].length; i++) {
        gradients[b][i] = (float) random.nextDouble() - 0.5f;
      }
    }
  }

  @Override
  public JsonObject run(JsonObject command) throws Exception {
    int times = command.getInteger("times", 1);
    moved = 0;
    switch (command.getString("do")) {
      case "fill" -> fill();
      case "pull" -> {
        for (int i = 0; i < times; i++) {
          pull(ids[next++ % BATCHES]);
        }
      }
      case "push" -> {
        for (int i = 0; i < times; i++) {
          int b = next++ % BATCHES;
          trainer.push(null, List.of(new SparseRows(TABLE, ids[b], gradients[b])));
          moved += ids[b].length;
        }
      }
      default -> throw new IllegalArgumentException("unknown command " + command);
    }
    return new JsonObject().put("rows", moved).put("raw_ids", (long) times * ZipfBatches.RAW);
  }

  private void fill() throws Exception {
    for (int from = 0; from < rows; from += FILL_ROWS) {
      long[] batch = new long[Math.min(FILL_ROWS, rows - from)];
      for (int i = 0; i < batch.length; i++) {
        batch[i] = ZipfBatches.id(from + i);
      }
      pull(batch);
    }
  }

  private void pull(long[] batch) throws Exception {
    trainer.pull(null, List.of(new SparseIds(TABLE, batch)));
    moved += batch.length;
  }

  @Override
  public void close() {
    vertx.close();
  }
}
