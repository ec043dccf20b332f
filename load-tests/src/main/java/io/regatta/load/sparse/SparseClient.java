package io.regatta.load.sparse;

import io.regatta.load.process.Task;
import io.regatta.load.run.ZipfBatches;
import io.vertx.core.json.JsonObject;
import java.util.SplittableRandom;

/**
 * The process of a trainer: {@code fill} creates all rows, {@code pull} and {@code push} take batches of Zipf's ids,
 * one request after another. Ids and gradients are made and de-duplicated beforehand.
 */
final class SparseClient implements Task {
  private static final int BATCHES = 64;
  private static final int FILL_ROWS = 50_000;
  private static final int SEED = 7;

  private final RowClient trainer;
  private final int rows;
  private final long[][] ids;
  private final float[][] gradients = new float[BATCHES][];
  private int next;
  private long moved;

  SparseClient(String kind, int port, int rows) throws Exception {
    this.rows = rows;
    trainer = kind.equals(SparseDriver.GRPC_JAVA) ? new GrpcJavaRows(port) : new RegattaRows(port);
    ids = ZipfBatches.distinct(BATCHES, rows, SEED);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int b = 0; b < BATCHES; b++) {
      gradients[b] = new float[ids[b].length * SparseDriver.DIM];
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
          trainer.push(ids[b], gradients[b]);
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
    float[] values = trainer.pull(batch);
    if (values.length != batch.length * SparseDriver.DIM) {
      throw new IllegalStateException(batch.length + " rows were answered with " + values.length + " values");
    }
    moved += batch.length;
  }

  @Override
  public void close() {
    trainer.close();
  }
}
