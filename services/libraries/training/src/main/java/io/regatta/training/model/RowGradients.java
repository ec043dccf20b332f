package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.core.reduce.SlotPooling;
import io.regatta.core.reduce.SparseGradients;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;

/** The forward passes of one {@link DistributedEmbedding} whose gradients are still to be read. Belongs to the model thread. */
final class RowGradients {

  /** One forward pass. */
  private record Pending(DistinctIds ids, float[] values, NDArray rows, float[] clicks) {}

  private final String table;
  private final int dim;
  private final SlotPooling pooling;
  private final HostCopy host;
  private final List<Pending> pending = new ArrayList<>();

  /**
   * Of none yet.
   *
   * @param pooling null: each place for an id is a slot
   * @param host lent for the time of a call
   */
  RowGradients(String table, int dim, SlotPooling pooling, HostCopy host) {
    this.table = table;
    this.dim = dim;
    this.pooling = pooling;
    this.host = host;
  }

  /**
   * A forward pass is over.
   *
   * @param values the factor of each place's row; null: all 1
   * @param rows what it gave, which will have the gradient
   * @param clicks one of each example; null: nobody counts them
   */
  void add(DistinctIds ids, float[] values, NDArray rows, float[] clicks) {
    pending.add(new Pending(ids, values, rows, clicks));
  }

  /**
   * Hands the gradients of this step's forward passes to the collector, and forgets them.
   *
   * @param counts behind the gradient of each row: 2, or 0
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

  /** Behind each gradient: in how many places of the batch its id stands, and the clicks of these places' examples. */
  private float[] withCounts(Pending p, float[] sums, int counts) {
    int width = dim + counts;
    float[] out = new float[p.ids().size() * width];
    for (int i = 0; i < p.ids().size(); i++) {
      System.arraycopy(sums, i * dim, out, i * width, dim);
    }
    int[] position = p.ids().position();
    if (p.clicks().length == 0 || position.length % p.clicks().length != 0) {
      throw new InvalidInput("table " + table + " has statistics, but its " + position.length + " places for ids do not "
          + "belong to " + p.clicks().length + " labels; give the clicks of each example with trainer.setClicks");
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

  /** Forgets forward passes that no step followed. */
  void forget() {
    pending.clear();
  }
}
