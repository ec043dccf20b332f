package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.core.reduce.SlotPooling;
import io.regatta.core.reduce.SparseGradients;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The forward passes of one {@link DistributedEmbedding} whose gradients have not been read yet. Belongs to the model
 * thread.
 */
final class RowGradients {

  /** One forward pass. */
  private record Pending(DistinctIds ids, float[] values, NDArray rows, float[] clicks) {}

  private final String table;
  private final int dim;
  private final SlotPooling pooling;
  private final HostCopy host;
  private final List<Pending> pending = new ArrayList<>();

  /**
   * Creates an empty collection.
   *
   * @param pooling null if each id position is a slot
   * @param host used during a call only
   */
  RowGradients(String table, int dim, SlotPooling pooling, HostCopy host) {
    this.table = table;
    this.dim = dim;
    this.pooling = pooling;
    this.host = host;
  }

  /**
   * Adds a forward pass.
   *
   * @param values the factor of each position's row; null: all 1
   * @param rows its output, which will have the gradient
   * @param clicks one per example; null if they are not counted
   */
  void add(DistinctIds ids, float[] values, NDArray rows, float[] clicks) {
    pending.add(new Pending(ids, values, rows, clicks));
  }

  /**
   * Adds the gradients of this step's forward passes to the collector, and clears them.
   *
   * @param counts after the gradient of each row: 2, or 0
   */
  void take(int counts, SparseGradients out) {
    for (Pending p : pending) {
      try (NDArray gradient = p.rows().getGradient()) {
        FloatBuffer read = host.read(gradient);
        float[] sums = pooling == null ? p.ids().sum(read, dim) : pooling.spread(p.ids(), read, dim, p.values());
        out.add(table, dim + counts, counts, p.ids(), counts == 0 ? sums : withCounts(p, sums, counts));
      }
    }
    pending.clear();
  }

  /**
   * Returns the gradients, each followed by the number of the batch's positions with its id, and by the clicks of their
   * examples.
   */
  private float[] withCounts(Pending p, float[] sums, int counts) {
    int width = dim + counts;
    float[] out = new float[p.ids().size() * width];
    for (int i = 0; i < p.ids().size(); i++) {
      System.arraycopy(sums, i * dim, out, i * width, dim);
    }
    int[] position = p.ids().position();
    if (p.clicks().length == 0 || position.length % p.clicks().length != 0) {
      throw new InvalidInput("table " + table + " has statistics, but its " + position.length + " id positions do not "
          + "match " + p.clicks().length + " labels; give the clicks of each example with trainer.setClicks");
    }
    int places = position.length / p.clicks().length;
    for (int i = 0; i < position.length; i++) {
      if (position[i] >= 0) {
        int at = position[i] * width + dim;
        out[at]++;
        out[at + 1] += p.clicks()[i / places];
      }
    }
    return out;
  }

  /** Drops forward passes without a step. */
  void forget() {
    pending.clear();
  }
}
