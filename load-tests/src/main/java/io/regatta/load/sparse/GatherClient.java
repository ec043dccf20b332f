package io.regatta.load.sparse;

import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.util.SplittableRandom;

/**
 * The limit of the memory: copies rows from random places of one array to one that stays in the cache. No table, no id,
 * no network, one thread; as many rows at a time as a batch has.
 */
final class GatherClient implements Task {
  private static final int BATCH_ROWS = 12_000;
  private static final int BATCHES = 64;

  private final float[] rows;
  private final int[][] places = new int[BATCHES][];
  private final float[] batch = new float[BATCH_ROWS * SparseDriver.DIM];
  private int next;

  GatherClient(int rows) {
    this.rows = new float[Math.multiplyExact(rows, SparseDriver.DIM)];
    SplittableRandom random = new SplittableRandom(7);
    for (int i = 0; i < this.rows.length; i++) { // so that it has pages of its own
      this.rows[i] = i;
    }
    for (int b = 0; b < BATCHES; b++) {
      places[b] = random.ints(BATCH_ROWS, 0, rows).toArray();
    }
  }

  @Override
  public JsonObject run(JsonObject command) {
    int times = command.getInteger("times", 1);
    for (int i = 0; i < times; i++) {
      gather(places[next++ % BATCHES]);
    }
    return new JsonObject().put("rows", (long) times * BATCH_ROWS).put("raw_ids", 0L);
  }

  private void gather(int[] from) {
    for (int i = 0; i < from.length; i++) {
      System.arraycopy(rows, from[i] * SparseDriver.DIM, batch, i * SparseDriver.DIM, SparseDriver.DIM);
    }
  }

  @Override
  public void close() {}
}
